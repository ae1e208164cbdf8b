package ddl

import (
	"strconv"
	"strings"
)

// KeyColumn is a column of a key in a condition.
type KeyColumn struct {
	Expr string // the quoted name, with an alias if need be
	Desc bool   // the index holds it in descending order
	Enum int    // an ENUM's number of members; 0 for any other type
	Code bool   // an ENUM or SET: the literals are numbers that stand for text
}

// Range is the keys after After, up to and with UpTo, in the key's own order.
// A nil bound is open.
type Range struct {
	After Tuple
	UpTo  Tuple
}

// RangeCond is the condition for a range of keys; TRUE if it is open at both
// ends. A row comparison (a, b) > (x, y) says the same, but MySQL reads no
// index range from it, so the comparison is spelled out.
func RangeCond(cols []KeyColumn, r Range) string {
	var conds []string
	if r.After != nil {
		conds = append(conds, beyond(cols, r.After, ">", false))
	}
	if r.UpTo != nil {
		conds = append(conds, beyond(cols, r.UpTo, "<", true))
	}
	if len(conds) == 0 {
		return "TRUE"
	}
	return strings.Join(conds, " AND ")
}

// beyond compares a key with a tuple: a row lies beyond it if some column
// does and all before it are equal. With orEqual the tuple itself counts too.
func beyond(cols []KeyColumn, t Tuple, op string, orEqual bool) string {
	var alternatives []string
	for i, c := range cols {
		var all []string
		for j := range i {
			all = append(all, cols[j].Expr+" = "+t[j])
		}
		all = append(all, c.compare(op, t[i], orEqual && i == len(cols)-1))
		alternatives = append(alternatives, strings.Join(all, " AND "))
	}
	if len(cols) == 1 {
		return alternatives[0]
	}
	return "(" + strings.Join(alternatives, " OR ") + ")"
}

func (c KeyColumn) compare(op, value string, orEqual bool) string {
	if c.Desc {
		op = map[string]string{"<": ">", ">": "<"}[op]
	}
	if n, err := strconv.Atoi(value); err == nil && c.Enum > 0 && c.Enum <= maxMembers {
		return c.list(op, n, orEqual)
	}
	if orEqual {
		op += "="
	}
	return c.Expr + " " + op + " " + value
}

// list names the members on one side of an ENUM's value: MySQL compares an
// ENUM with a number in order, but reads an index range only from equality.
func (c KeyColumn) list(op string, n int, orEqual bool) string {
	var numbers []string
	for m := range c.Enum + 1 {
		if op == "<" && m < n || op == ">" && m > n || orEqual && m == n {
			numbers = append(numbers, strconv.Itoa(m))
		}
	}
	if len(numbers) == 0 {
		// A number that no row has. FALSE would vanish and leave the other
		// alternative alone, and MySQL sorts where an ENUM equals a number.
		numbers = []string{strconv.Itoa(c.Enum + 1)}
	}
	return c.Expr + " IN (" + strings.Join(numbers, ", ") + ")"
}

// InKeys is the condition for a list of keys. The list must not be empty.
//
// Within a row, MySQL compares an ENUM or SET with a number as text: (e, id)
// IN ((1, 7)) finds nothing where e = 1 AND id = 7 does. Such keys are spelled
// out.
func InKeys(cols []KeyColumn, keys []Tuple) string {
	exprs := make([]string, len(cols))
	spell := false
	for i, c := range cols {
		exprs[i] = c.Expr
		spell = spell || c.Code && len(cols) > 1
	}
	values := make([]string, len(keys))
	for i, k := range keys {
		if spell {
			values[i] = allEqual(exprs, k)
		} else {
			values[i] = row(k)
		}
	}
	if spell {
		return "(" + strings.Join(values, " OR ") + ")"
	}
	return row(exprs) + " IN (" + strings.Join(values, ", ") + ")"
}

func allEqual(exprs []string, t Tuple) string {
	all := make([]string, len(exprs))
	for i, e := range exprs {
		all[i] = e + " = " + t[i]
	}
	return strings.Join(all, " AND ")
}

// row joins a key's parts, in parentheses if there are several.
func row(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
