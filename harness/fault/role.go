package fault

import (
	"fmt"

	"rowproof/harness/observe"
	"rowproof/harness/workload"
)

// Role is a table by what it is in a migration. Tools differ in how they name
// all but the original.
type Role string

// The tables of a migration.
const (
	Original Role = "original"
	Shadow   Role = "shadow"    // being built
	Old      Role = "old table" // the original after the swap
)

// Names are what the subject calls the tables that it makes; "" is a table
// that it doesn't have, or whose name is not known beforehand.
type Names struct{ Shadow, Old string }

// table returns the name of a table.
func (s *Site) table(role Role) (observe.TableRef, error) {
	name := map[Role]string{Original: s.Table.Name, Shadow: s.Names.Shadow, Old: s.Names.Old}[role]
	if name == "" {
		return observe.TableRef{}, fmt.Errorf("the name of the subject's %s is not known", role)
	}
	return observe.TableRef{Schema: s.Schema, Name: name}, nil
}

// quoted returns the name of a table as it stands in a statement.
func (s *Site) quoted(role Role) (string, error) {
	t, err := s.table(role)
	return workload.Quote(t.Schema) + "." + workload.Quote(t.Name), err
}
