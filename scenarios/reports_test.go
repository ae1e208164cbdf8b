package scenarios_test

import (
	"testing"

	"rowproof/harness/script"
)

// Bug reports in files: those that rowproof was given, or else the examples.
func TestReports(t *testing.T) { script.Run(t, suite, "../docs/examples/*"+script.Extension) }
