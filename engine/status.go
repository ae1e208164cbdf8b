package engine

import (
	"fmt"
	"strings"
	"time"
)

// Status is how far a migration is.
type Status struct {
	Table     string        `json:"table"`
	Phase     string        `json:"phase"`
	Rows      int64         `json:"rows"`                 // done in this phase
	Total     int64         `json:"rows_total,omitempty"` // about; 0 if unknown
	Rate      int64         `json:"rows_per_second"`
	Left      time.Duration `json:"left_ns,omitempty"` // 0 if unknown
	Applied   int64         `json:"changes_applied"`
	Backlog   int           `json:"backlog"`       // changed keys not applied yet
	Lag       time.Duration `json:"stream_lag_ns"` // how old the last transaction was when it came through the stream
	Position  string        `json:"position"`      // of the stream
	Waits     string        `json:"waits,omitempty"`
	Postponed string        `json:"postponed,omitempty"` // why the tables are not swapped yet
	Elapsed   time.Duration `json:"elapsed_ns"`
}

func (m *migration) status() Status {
	s := Status{
		Table: m.names.original.String(), Applied: m.applier.Applied(), Backlog: m.applier.Backlog(),
		Position: m.stream.Position().String(), Waits: m.throttle.Reason().Text,
		Postponed: m.operator.postponement(), Lag: m.stream.Delay(), Elapsed: time.Since(m.started),
	}
	m.progress.describe(&s)
	return s
}

// percent is how much of the phase is done, or false if nobody knows.
func (s Status) percent() (int, bool) {
	if s.Total == 0 {
		return 0, false
	}
	return int(100 * min(1, float64(s.Rows)/float64(s.Total))), true
}

// Attrs are the fields of a log line.
func (s Status) Attrs() []any {
	fields := []any{"rows", s.Rows, "rows/s", s.Rate}
	if percent, ok := s.percent(); ok {
		fields = append(fields, "percent", percent)
	}
	if s.Left > 0 {
		fields = append(fields, "left", s.Left)
	}
	fields = append(fields, "changes applied", s.Applied, "backlog", s.Backlog, "lag", s.Lag.Round(time.Millisecond))
	if s.Waits != "" {
		fields = append(fields, "waits", s.Waits)
	}
	if s.Postponed != "" {
		fields = append(fields, "postponed", s.Postponed)
	}
	return fields
}

// Line is the status in one line.
func (s Status) Line() string {
	var b strings.Builder
	b.WriteString(s.Phase)
	if percent, ok := s.percent(); ok {
		fmt.Fprintf(&b, " %d%%", percent)
	}
	if s.Rows > 0 {
		fmt.Fprintf(&b, " %d rows, %d rows/s", s.Rows, s.Rate)
	}
	if s.Left > 0 {
		fmt.Fprintf(&b, ", %v left", s.Left)
	}
	fmt.Fprintf(&b, "; %d changes applied, %d wait, %v behind", s.Applied, s.Backlog, s.Lag.Round(time.Millisecond))
	if s.Postponed != "" {
		b.WriteString("; " + s.Postponed)
	}
	if s.Waits != "" {
		b.WriteString("; waits: " + s.Waits)
	}
	return b.String()
}

// String is the status in several lines.
func (s Status) String() string {
	total := ""
	if percent, ok := s.percent(); ok {
		total = fmt.Sprintf(" of about %d (%d%%)", s.Total, percent)
	}
	lines := []string{
		"table:     " + s.Table,
		"phase:     " + s.Phase,
		fmt.Sprintf("rows:      %d%s, %d rows/s", s.Rows, total, s.Rate),
		fmt.Sprintf("changes:   %d applied, %d wait", s.Applied, s.Backlog),
		fmt.Sprintf("stream:    %s, %v behind", s.Position, s.Lag.Round(time.Millisecond)),
		fmt.Sprintf("elapsed:   %v", s.Elapsed.Round(time.Second)),
	}
	if s.Left > 0 {
		lines = append(lines, fmt.Sprintf("left:      about %v", s.Left))
	}
	if s.Postponed != "" {
		lines = append(lines, "postponed: "+s.Postponed)
	}
	if s.Waits != "" {
		lines = append(lines, "waits:     "+s.Waits)
	}
	return strings.Join(lines, "\n")
}
