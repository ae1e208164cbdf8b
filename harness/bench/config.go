package bench

import (
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"time"

	"rowproof/harness/bench/figures"
)

// Config says what is measured. Zero values stand for the whole benchmark.
type Config struct {
	Root    string // the module's directory, to build osc from
	Version string // of the project, for the report
	Logs    string // directory for what the contenders write

	Rows    int64         // of the table; 0 means 2,000,000
	Repeat  int           // rounds; 0 means 3
	Changes int64         // in the backlog; 0 means 400,000
	Rates   []int         // of the loads, in writes a second; none means 500 and 1000
	Calm    time.Duration // how long the load is measured without a migration; 0 means 15 s

	// Only are patterns for phases, contenders, or PHASE/CONTENDER; what none
	// fits is left out. None: everything.
	Only []string

	GhOst  string // path of a gh-ost; "": left out
	Spirit string // path of a spirit; "": left out
}

func (c Config) withDefaults() Config {
	if c.Rows == 0 {
		c.Rows = 2_000_000
	}
	if c.Repeat == 0 {
		c.Repeat = 3
	}
	if c.Changes == 0 {
		c.Changes = 400_000
	}
	if len(c.Rates) == 0 {
		c.Rates = []int{500, 1000}
	}
	if c.Calm == 0 {
		c.Calm = 15 * time.Second
	}
	return c
}

// minRows is the size below which nothing can be measured.
const minRows = 1000

// Validate names the field that is wrong, by its flag.
func (c Config) Validate() error {
	switch {
	case c.Rows != 0 && c.Rows < minRows:
		return fmt.Errorf("--rows %d: it must be at least %d", c.Rows, minRows)
	case c.Repeat < 0:
		return fmt.Errorf("--repeat %d: it must be at least 1", c.Repeat)
	case c.Changes < 0:
		return fmt.Errorf("--changes %d: it must be at least 1", c.Changes)
	case slices.ContainsFunc(c.Rates, func(r int) bool { return r < 1 || r > maxRate }):
		return fmt.Errorf("--rate: each must be 1 to %d writes a second", maxRate)
	}
	for _, pattern := range c.Only {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("--only %s: %w", pattern, err)
		}
	}
	return errors.Join(program("--gh-ost", c.GhOst), program("--spirit", c.Spirit))
}

// program says whether a program that the user named is there.
func program(flag, path string) error {
	if path == "" {
		return nil
	}
	if _, err := exec.LookPath(path); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// wants reports whether a measurement is asked for.
func (c Config) wants(phase figures.Phase, contender string) bool {
	if len(c.Only) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Only, func(pattern string) bool {
		for _, name := range []string{string(phase), contender, string(phase) + "/" + contender} {
			if fits, _ := path.Match(pattern, name); fits { // Validate knows bad patterns
				return true
			}
		}
		return false
	})
}

// loadPhase is the name of the phase of one rate.
func loadPhase(rate int) figures.Phase {
	return figures.Load + "-" + figures.Phase(strconv.Itoa(rate))
}
