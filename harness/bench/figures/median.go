package figures

import (
	"cmp"
	"slices"
)

// Row is the medians of a contender's runs in one phase.
type Row struct {
	Phase     Phase
	Contender string
	Runs      int    // that gave figures
	Error     string // of the first that did not
	Seconds   float64
	CPU       float64 // processor time of tool and server together
	PeakBytes int64   // the most of all runs, not the median
	PerSecond float64 // of Backlog: changes applied
	Felt      *Felt
}

// Phases returns the phases of the report in order.
func (r Report) Phases() []Phase {
	var phases []Phase
	for _, run := range r.Runs {
		if !slices.Contains(phases, run.Phase) {
			phases = append(phases, run.Phase)
		}
	}
	return phases
}

// Rows returns the medians of a phase, in the order of the contenders.
func (r Report) Rows(phase Phase) []Row {
	var names []string
	runs := map[string][]Run{}
	for _, run := range r.Runs {
		if run.Phase != phase {
			continue
		}
		if _, seen := runs[run.Contender]; !seen {
			names = append(names, run.Contender)
		}
		runs[run.Contender] = append(runs[run.Contender], run)
	}
	var rows []Row
	for _, name := range names {
		rows = append(rows, newRow(runs[name]))
	}
	return rows
}

// newRow draws the medians of one contender's runs of one phase.
func newRow(all []Run) Row {
	row := Row{Phase: all[0].Phase, Contender: all[0].Contender}
	var good []Run
	for _, run := range all {
		if run.Error == "" {
			good = append(good, run)
		} else if row.Error == "" {
			row.Error = run.Error
		}
	}
	row.Runs = len(good)
	if len(good) == 0 {
		return row
	}
	row.Seconds = median(good, func(r Run) float64 { return r.Seconds })
	row.CPU = median(good, func(r Run) float64 { return r.CPU + r.ServerCPU })
	row.PerSecond = median(good, func(r Run) float64 { return float64(r.Changes) / r.Seconds })
	for _, run := range good {
		row.PeakBytes = max(row.PeakBytes, run.PeakBytes)
	}
	if good[0].Felt != nil {
		felt := func(value func(Felt) float64) float64 {
			return median(good, func(r Run) float64 { return value(*r.Felt) })
		}
		row.Felt = &Felt{
			Rate:       good[0].Felt.Rate,
			Due:        int64(felt(func(f Felt) float64 { return float64(f.Due) })),
			Failed:     int64(felt(func(f Felt) float64 { return float64(f.Failed) })),
			Failure:    good[0].Felt.Failure,
			Throughput: felt(func(f Felt) float64 { return f.Throughput }),
			P50:        felt(func(f Felt) float64 { return f.P50 }),
			P99:        felt(func(f Felt) float64 { return f.P99 }),
			P999:       felt(func(f Felt) float64 { return f.P999 }),
			Max:        felt(func(f Felt) float64 { return f.Max }),
		}
	}
	return row
}

// Ratio returns how the row compares with another contender's of its phase,
// by the seconds that both took. It is false where one of them has no figure.
func (r Row) Ratio(rows []Row, contender string) (float64, bool) {
	for _, other := range rows {
		if other.Contender == contender && other.Seconds > 0 && r.Runs > 0 {
			return r.Seconds / other.Seconds, true
		}
	}
	return 0, false
}

// median returns the middle value; of two middle ones their mean.
func median(runs []Run, value func(Run) float64) float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = value(run)
	}
	slices.SortFunc(values, cmp.Compare)
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}
