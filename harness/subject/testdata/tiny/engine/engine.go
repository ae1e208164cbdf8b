// Package engine stands in for the engine.
package engine

// Careful tells whether the engine takes care.
func Careful() bool {
	if !first() {
		return false
	}
	return second()
}

func first() bool {
	return true
}

func second() bool {
	return true
}
