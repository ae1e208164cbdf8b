package history

import "slices"

// misfits: NULL, out of range, truncated, of another type, not a value, too
// long.
var misfits = []uint16{1048, 1264, 1265, 1292, 1366, 1406}

// Misfit reports whether an error number of the server says that a column does
// not take a value.
func Misfit(code uint16) bool { return slices.Contains(misfits, code) }
