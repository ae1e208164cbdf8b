package ddl

import "fmt"

// Refusal is the error of a change that can't be made safely online. It is
// found before anything has been changed.
type Refusal struct {
	What string // the clause, column or key
	Why  string // what could go wrong
	Do   string // what the user can do instead
}

// Error tells all three parts in one line.
func (r *Refusal) Error() string {
	return fmt.Sprintf("refuse %s: %s; %s", r.What, r.Why, r.Do)
}
