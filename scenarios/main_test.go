package scenarios_test

import (
	"os"
	"testing"

	"rowproof/harness"
)

// suite is what all scenarios share: warm clusters and built subjects.
var suite *harness.Suite

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &suite)) }
