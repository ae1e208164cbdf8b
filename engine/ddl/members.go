package ddl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxMembers bounds the length of an expression that names every member.
const maxMembers = 500

// renumber writes the number that an ENUM's or SET's value gets in the
// shadow's list of members. The server converts by the members' names.
func renumber(o, s Column) (string, bool) {
	q := o.Quoted()
	if sameNumbers(o, s) {
		return q, true
	}
	numbers, ok := newNumbers(o, s)
	if !ok || len(numbers) > maxMembers {
		return "", false
	}
	if o.kind() == kindSet {
		return renumberSet(q, numbers), true
	}
	// Number 0 is the error value and stays what it is. A member that is gone
	// is an error, so it must equal nothing.
	list := "0"
	for _, n := range numbers {
		list += ", " + strconv.Itoa(n)
	}
	return "ELT(" + q + " + 1, " + list + ")", true
}

func renumberSet(q string, numbers []int) string {
	var bits []string
	var gone uint64
	for i, n := range numbers {
		if n < 0 {
			gone |= 1 << i
			continue
		}
		bits = append(bits, fmt.Sprintf("((%s + 0 >> %d & 1) << %d)", q, i, n-1))
	}
	sum := "(" + q + " & 0)" // NULL stays NULL
	if len(bits) > 0 {
		sum = strings.Join(bits, " | ")
	}
	if gone == 0 {
		return "(" + sum + ")"
	}
	return fmt.Sprintf("IF(%s + 0 & %d, -1, %s)", q, gone, sum)
}

// newNumbers finds each member of o in s; -1 stands for a member that s
// hasn't. It gives up where the server might still find one: by the collation
// ('A' for 'a'), or by reading its name as a number.
func newNumbers(o, s Column) ([]int, bool) {
	var numbers []int
	for _, m := range o.Members() {
		n := slices.Index(s.Members(), m) + 1
		if n == 0 {
			if !plainWord(m) || containsFold(s.Members(), m) {
				return nil, false
			}
			n = -1
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

// plainWord tells whether a name is ASCII and can't be read as a number.
func plainWord(name string) bool {
	for _, r := range name {
		if r > 0x7e || r < 0x21 {
			return false
		}
	}
	return name != "" && strings.IndexByte("0123456789+-.,", name[0]) < 0
}
