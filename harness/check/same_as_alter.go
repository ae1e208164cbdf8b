package check

import (
	"fmt"
	"slices"
	"strings"

	"rowproof/harness/history"
)

// Outcomes of a migration, as history.Exit and history.Record.Expect spell
// them.
const (
	completed = "completed"
	aborted   = "aborted"
	refused   = "refused"
	killed    = "killed"
)

// SameAsAlter asks whether the final table is what MySQL's own ALTER makes of
// the old one, in definition and in every byte.
func SameAsAlter(r *history.Record) Result {
	c := r.Observed.Comparison
	if !c.Done {
		if r.Exit.Outcome == completed {
			return finding(nil, []string{"the migration completed, but its table was not compared with MySQL's own ALTER"})
		}
		// An aborted migration has no new table. What became of the original
		// is judged by the ledger.
		return finding(nil, nil)
	}

	var found []Anomaly
	past := earlierStates(r)
	for _, d := range c.Diffs {
		found = append(found, rowAnomaly(r, past, d))
	}
	for _, d := range r.Observed.Schema {
		found = append(found, Anomaly{
			Kind: SchemaDifference,
			Text: fmt.Sprintf("The definition differs in %s: MySQL's own ALTER gives %s, the migration gave %s.", d.Object, orNothing(d.Want), orNothing(d.Got)),
		})
	}
	var unknown []string
	if c.Truncated {
		unknown = append(unknown, fmt.Sprintf("there are more differing rows than the %d reported", len(c.Diffs)))
	}
	if c.Rows != c.FinalRows && len(c.Diffs) == 0 && len(c.Excluded) == 0 {
		unknown = append(unknown, fmt.Sprintf("the tables hold %d and %d rows, but no differing row was found", c.Rows, c.FinalRows))
	}
	return finding(found, unknown)
}

// rowAnomaly classifies one differing row.
func rowAnomaly(r *history.Record, past states, d history.RowDiff) Anomaly {
	a := Anomaly{Key: d.Key}
	name := fmt.Sprintf("Row %s of %s", d.Key, r.Table.Name)
	switch {
	case d.Count > 1:
		a.Kind = DuplicateRow
		a.Text = fmt.Sprintf("%s stands %d times in the final table: %s.", name, d.Count, Show(d.Got))
	case d.Got == nil:
		a.Kind = LostRow
		a.Text = fmt.Sprintf("%s is missing in the final table; it should be %s.", name, Show(d.Want))
	case d.Want == nil:
		a.Kind = ResurrectedRow
		a.Text = fmt.Sprintf("%s is in the final table as %s; there should be no such row.", name, Show(d.Got))
	case past.held(d.Key, d.Got, d.Want):
		a.Kind = StaleRow
		a.Text = fmt.Sprintf("%s holds an earlier state: %s.", name, changed(d))
	default:
		a.Kind = AlteredValue
		a.Text = fmt.Sprintf("%s holds a value that nobody wrote: %s.", name, changed(d))
	}
	return a
}

// changed renders the columns that differ, bytes included when the text does
// not show the difference.
func changed(d history.RowDiff) string {
	columns := d.Columns
	if len(columns) == 0 {
		for c, want := range d.Want {
			if got, ok := d.Got[c]; ok && !sameText(want, got) {
				columns = append(columns, c)
			}
		}
		slices.Sort(columns)
	}
	parts := make([]string, 0, len(columns))
	for _, c := range columns {
		want, got := value(d.Want[c]), value(d.Got[c])
		if want == got {
			want += " (bytes " + d.WantHex[c] + ")"
			got += " (bytes " + d.GotHex[c] + ")"
		}
		parts = append(parts, fmt.Sprintf("%s is %s and should be %s", c, got, want))
	}
	return strings.Join(parts, "; ")
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
