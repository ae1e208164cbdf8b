package ddl

import (
	"fmt"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"
)

// WithoutIndexes is a table's definition with its plain secondary indexes
// left out. It is the same before and after AddIndexes.
func WithoutIndexes(t Table) string {
	var kept []string
	for line := range strings.Lines(t.CreateSQL) {
		if !strings.HasPrefix(line, "  KEY ") {
			// What is last in the list has no comma behind it.
			kept = append(kept, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), ","))
		}
	}
	return strings.Join(kept, "\n")
}

// Missing returns those of the indexes that a table does not have.
func Missing(t Table, list []Index) []Index {
	var missing []Index
	for _, index := range list {
		found := false
		for _, k := range t.Keys {
			found = found || strings.EqualFold(k.Name, index.Name)
		}
		if !found {
			missing = append(missing, index)
		}
	}
	return missing
}

// Check makes sure that the definition is one of an index and nothing else,
// where it comes from a table that others may write.
func (i Index) Check(serverVersion string) error {
	a, err := parse(TableName{Schema: "s", Name: "t"}, "ADD "+i.Definition, serverVersion)
	if err != nil {
		return err
	}
	if len(a.AlterOptions) == 1 && a.PartitionSpec == nil && a.PartitionOption == nil {
		if _, ok := a.AlterOptions[0].(*sqlparser.AddIndexDefinition); ok {
			return nil
		}
	}
	return fmt.Errorf("read index %s: more than an index: %s", QuoteIdent(i.Name), i.Definition)
}
