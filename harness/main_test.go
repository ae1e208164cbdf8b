package harness_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"rowproof/harness"
)

// suiteVariable makes the test binary a suite of scenarios.
const suiteVariable = "ROWPROOF_TEST_SUITE"

var suite *harness.Suite

func TestMain(m *testing.M) {
	if os.Getenv(suiteVariable) != "" {
		os.Exit(harness.Main(m, &suite))
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}
