package check

import (
	"fmt"

	"rowproof/harness/history"
)

// SameOnReplicas asks whether every replica ended with the source's table.
func SameOnReplicas(r *history.Record) Result {
	var found []Anomaly
	for _, d := range r.Observed.Replicas {
		a := Anomaly{Kind: ReplicaDifference, Text: fmt.Sprintf("On %s: %s.", d.Server, d.Text)}
		if row := d.Row; row != nil {
			a.Key = row.Key
			switch {
			case row.Count > 1:
				a.Text = fmt.Sprintf("On %s row %s stands %d times.", d.Server, row.Key, row.Count)
			case row.Got == nil:
				a.Text = fmt.Sprintf("On %s row %s is missing; the source has %s.", d.Server, row.Key, Show(row.Want))
			case row.Want == nil:
				a.Text = fmt.Sprintf("On %s there is a row %s, %s, that the source does not have.", d.Server, row.Key, Show(row.Got))
			default:
				a.Text = fmt.Sprintf("On %s row %s differs from the source's: %s.", d.Server, row.Key, changed(*row))
			}
		}
		found = append(found, a)
	}
	return finding(found, nil)
}
