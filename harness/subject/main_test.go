package subject_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"rowproof/harness/subject"
)

// helperEnv makes the test binary a harness that starts one subject with the
// log that the variable names, and waits to be killed.
const helperEnv = "SUBJECT_TEST_HELPER_LOG"

func TestMain(m *testing.M) {
	if log := os.Getenv(helperEnv); log != "" {
		if err := harnessToKill(log); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func harnessToKill(log string) error {
	ctx := context.Background()
	p, err := subject.Start(ctx, shell("echo ready; exec sleep 600"), log)
	if err != nil {
		return err
	}
	_, err = p.Wait(ctx)
	return err
}

// shell is a subject's command that runs a shell script.
func shell(script string) subject.Command {
	return subject.Command{
		Argv:    []string{"sh", "-c", script},
		Outcome: func(status int, _ string) string { return fmt.Sprint("status ", status) },
	}
}
