package fault

import "fmt"

// Bandwidth lets so many kilobytes a second pass in each direction of a path.
func Bandwidth(p Path, kilobytes int) Action {
	return p.toxic(fmt.Sprintf("bandwidth of %d KB/s", kilobytes), "bandwidth", map[string]any{"rate": kilobytes})
}
