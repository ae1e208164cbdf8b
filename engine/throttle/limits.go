package throttle

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limits say when to hold back. A zero value never does.
type Limits struct {
	MaxLag       time.Duration // of any replica; 0 means DefaultMaxLag
	MaxLoad      Load          // a status variable above its limit holds the copy back
	CriticalLoad Load          // and above this one it ends the migration
	MaxHistory   int64         // length of InnoDB's history list; 0 means no limit
	FlagFiles    []string      // the copy waits while one of them exists
	NiceRatio    float64       // rest after each chunk, as a share of the time that it took
}

// DefaultMaxLag is how far a replica may be behind.
const DefaultMaxLag = 1500 * time.Millisecond

// Validate names the first limit that can't be.
func (l Limits) Validate() error {
	switch {
	case l.MaxLag < 0:
		return fmt.Errorf("max-lag-millis=%d: want a positive number", l.MaxLag.Milliseconds())
	case l.MaxHistory < 0:
		return fmt.Errorf("max-history-length=%d: want a positive number, or 0 for no limit", l.MaxHistory)
	case l.NiceRatio < 0 || l.NiceRatio > 100 || l.NiceRatio != l.NiceRatio:
		return fmt.Errorf("nice-ratio=%v: want 0 to 100", l.NiceRatio)
	}
	return nil
}

// Load is a list of status variables with a limit each.
type Load []Limit

// Limit is the highest value that a status variable may have.
type Limit struct {
	Variable string
	Max      int64
}

// ParseLoad reads Threads_running=25,Threads_connected=500.
func ParseLoad(text string) (Load, error) {
	var load Load
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		limit, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if !ok || name == "" || err != nil || limit < 0 {
			return nil, fmt.Errorf("%q: want STATUS_VARIABLE=NUMBER, such as Threads_running=25", strings.TrimSpace(part))
		}
		load = append(load, Limit{name, limit})
	}
	return load, nil
}

// String is what ParseLoad reads.
func (l Load) String() string {
	parts := make([]string, len(l))
	for i, limit := range l {
		parts[i] = fmt.Sprintf("%s=%d", limit.Variable, limit.Max)
	}
	return strings.Join(parts, ",")
}

// Variables returns the names of the status variables.
func (l Load) Variables() []string {
	names := make([]string, len(l))
	for i, limit := range l {
		names[i] = limit.Variable
	}
	return names
}

// exceeded returns the first variable above its limit, in words.
func (l Load) exceeded(values map[string]int64) (text string, ok bool) {
	for _, limit := range l {
		if value := values[strings.ToLower(limit.Variable)]; value > limit.Max {
			return fmt.Sprintf("%s is %d, the limit is %d", limit.Variable, value, limit.Max), true
		}
	}
	return "", false
}
