// Package benchmark shows what a benchmark measured: as tables on a terminal
// and as a plot in one file.
package benchmark

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"rowproof/harness/bench/figures"
)

// references are the contenders that all others are compared with.
func references() []string { return []string{"COPY", "INPLACE", "pt-osc", "gh-ost"} }

// Title is what a phase measures, in a few words.
func Title(r figures.Report, phase figures.Phase) string {
	switch {
	case phase == figures.Whole:
		return "Whole command, no other load"
	case phase == figures.Indexes:
		return "Whole command, table with four secondary indexes"
	case phase == figures.Backlog:
		return "Applying changes that piled up after the copy"
	case strings.HasPrefix(string(phase), string(figures.Load)):
		return fmt.Sprintf("What %s single-row writes a second feel meanwhile", strings.TrimPrefix(string(phase), string(figures.Load)+"-"))
	}
	return string(phase)
}

// WriteText writes a table for each phase.
func WriteText(w io.Writer, r figures.Report) error {
	var b strings.Builder
	for _, phase := range r.Phases() {
		rows := r.Rows(phase)
		fmt.Fprintf(&b, "%s\n", Title(r, phase))
		switch {
		case phase == figures.Backlog:
			writeBacklog(&b, rows)
		case rows[0].Felt != nil:
			writeFelt(&b, rows)
		default:
			writeWhole(&b, rows)
		}
		for _, row := range rows {
			if row.Error != "" {
				fmt.Fprintf(&b, "  %s: %s\n", row.Contender, row.Error)
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Medians of %s; %s rows, %.0f MB; ALTER TABLE %s; MySQL %s; %d processors; version %s.\n",
		count(r.Repeat, "round"), thousands(r.Table.Rows), megabytes(r.Table.Bytes), r.Alter, r.Server.Version, r.Machine.CPUs, r.Version)
	for _, line := range r.LeftOut {
		fmt.Fprintf(&b, "Left out: %s.\n", line)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write benchmark: %w", err)
	}
	return nil
}

func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var right []table.ColumnConfig
	for n := 2; n <= len(header); n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	return t
}

func writeWhole(b *strings.Builder, rows []figures.Row) {
	header := []any{"contender", "seconds"}
	present := presentReferences(rows)
	for _, name := range present {
		header = append(header, "× "+name)
	}
	t := newTable(append(header, "CPU s", "peak MB")...)
	for _, row := range rows {
		line := table.Row{row.Contender, seconds(row)}
		for _, name := range present {
			line = append(line, ratio(row, rows, name))
		}
		t.AppendRow(append(line, processor(row), peak(row)))
	}
	b.WriteString(t.Render() + "\n")
}

func writeBacklog(b *strings.Builder, rows []figures.Row) {
	t := newTable("contender", "seconds", "rows/s", "× gh-ost's rows/s", "peak MB")
	for _, row := range rows {
		rate, times := "", ""
		if row.Runs > 0 {
			rate = thousands(int64(row.PerSecond))
		}
		for _, other := range rows {
			if other.Contender == "gh-ost" && other.Runs > 0 && row.Runs > 0 {
				times = fmt.Sprintf("%.1f", row.PerSecond/other.PerSecond)
			}
		}
		t.AppendRow(table.Row{row.Contender, seconds(row), rate, times, peak(row)})
	}
	b.WriteString(t.Render() + "\n")
}

func writeFelt(b *strings.Builder, rows []figures.Row) {
	t := newTable("contender", "seconds", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "writes/s", "failed", "peak MB")
	for _, row := range rows {
		f := row.Felt
		if row.Runs == 0 {
			t.AppendRow(table.Row{row.Contender, seconds(row), "", "", "", "", "", "", ""})
			continue
		}
		t.AppendRow(table.Row{row.Contender, seconds(row), milliseconds(f.P50), milliseconds(f.P99), milliseconds(f.P999),
			milliseconds(f.Max), thousands(int64(f.Throughput + 0.5)), f.Failed, peak(row)})
	}
	b.WriteString(t.Render() + "\n")
	for _, row := range rows {
		if row.Felt != nil && row.Felt.Failed > 0 {
			fmt.Fprintf(b, "  a write failed under %s: %s\n", row.Contender, row.Felt.Failure)
		}
	}
}

// presentReferences returns the references that have figures here.
func presentReferences(rows []figures.Row) []string {
	var present []string
	for _, name := range references() {
		for _, row := range rows {
			if row.Contender == name && row.Runs > 0 {
				present = append(present, name)
			}
		}
	}
	return present
}

func seconds(r figures.Row) string {
	if r.Runs == 0 {
		return "failed"
	}
	return fmt.Sprintf("%.1f", r.Seconds)
}

func processor(r figures.Row) string {
	if r.Runs == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", r.CPU)
}

func ratio(r figures.Row, rows []figures.Row, reference string) string {
	if value, ok := r.Ratio(rows, reference); ok {
		return fmt.Sprintf("%.2f", value)
	}
	return ""
}

func peak(r figures.Row) string {
	if r.PeakBytes == 0 {
		return "" // the server did it
	}
	return fmt.Sprintf("%.0f", megabytes(r.PeakBytes))
}

func milliseconds(value float64) string {
	if value < 10 {
		return fmt.Sprintf("%.1f", value)
	}
	return thousands(int64(value + 0.5))
}

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// thousands writes a number with separators: 2,000,000.
func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
