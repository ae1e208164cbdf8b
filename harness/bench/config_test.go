package bench_test

import (
	"strings"
	"testing"

	"rowproof/harness/bench"
)

func TestValidate(t *testing.T) {
	if err := (bench.Config{}).Validate(); err != nil {
		t.Errorf("the zero value is refused: %v", err)
	}
	for name, c := range map[string]struct {
		config bench.Config
		want   string
	}{
		"Rows":    {bench.Config{Rows: 10}, "--rows 10"},
		"Repeat":  {bench.Config{Repeat: -1}, "--repeat -1"},
		"Changes": {bench.Config{Changes: -1}, "--changes -1"},
		"Rate":    {bench.Config{Rates: []int{500, 0}}, "--rate"},
		"Only":    {bench.Config{Only: []string{"[x"}}, "--only [x"},
		"GhOst":   {bench.Config{GhOst: "/no/such/gh-ost"}, "--gh-ost"},
		"Spirit":  {bench.Config{Spirit: "/no/such/spirit"}, "--spirit"},
	} {
		t.Run("Err"+name, func(t *testing.T) {
			if err := c.config.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %s", err, c.want)
			}
		})
	}
}
