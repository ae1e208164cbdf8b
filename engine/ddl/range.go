package ddl

import "strings"

// RangeCond is the condition for keys after lo, up to and with hi, in key
// order; a nil bound is open, and two make it TRUE. A row comparison
// (a, b) > (x, y) says the same, but MySQL reads no index range from it, so
// the comparison is spelled out, with the first column in front once more to
// bound the range.
func RangeCond(cols []string, lo, hi Tuple) string {
	var conds []string
	if lo != nil {
		conds = append(conds, bound(cols, lo, ">", ">"))
	}
	if hi != nil {
		conds = append(conds, bound(cols, hi, "<", "<="))
	}
	if len(conds) == 0 {
		return "TRUE"
	}
	return strings.Join(conds, " AND ")
}

// bound compares a key with a tuple: strict in all columns but the last.
func bound(cols []string, t Tuple, strict, last string) string {
	if len(cols) == 1 {
		return cols[0] + " " + last + " " + t[0]
	}
	var alternatives []string
	for i := range cols {
		var equal []string
		for j := range i {
			equal = append(equal, cols[j]+" = "+t[j])
		}
		op := strict
		if i == len(cols)-1 {
			op = last
		}
		alternatives = append(alternatives, strings.Join(append(equal, cols[i]+" "+op+" "+t[i]), " AND "))
	}
	return "(" + strings.Join(alternatives, " OR ") + ")"
}

// InKeys is the condition for a list of keys. It must not be empty.
func InKeys(cols []string, keys []Tuple) string {
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = strings.Join(k, ", ")
		if len(cols) > 1 {
			values[i] = "(" + values[i] + ")"
		}
	}
	left := strings.Join(cols, ", ")
	if len(cols) > 1 {
		left = "(" + left + ")"
	}
	return left + " IN (" + strings.Join(values, ", ") + ")"
}
