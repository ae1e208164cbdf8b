package topology_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"rowproof/harness/topology"
)

// helperVariable makes the test binary play another process.
const helperVariable = "ROWPROOF_TEST_HELPER"

// What the other process does once its cluster is up: wait to be killed, or
// work and end.
const (
	helperHolds = "hold"
	helperWorks = "work"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(helperVariable); task != "" {
		if err := help(context.Background(), task); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// help is the main function of the other process.
func help(ctx context.Context, task string) error {
	c, err := topology.Start(ctx, topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if task == helperHolds {
		select {}
	}
	for n := range 20 {
		if _, err := c.Source().DB.ExecContext(ctx, fmt.Sprintf("CREATE DATABASE d%d", n)); err != nil {
			return err
		}
	}
	if err := c.WaitReplicated(ctx); err != nil {
		return err
	}
	if err := topology.Sweep(ctx); err != nil {
		return err
	}
	return c.Close()
}

// helper starts the other process and waits until its cluster is up.
func helper(t *testing.T, task string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+task)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // an error means that it has ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the helper process said %q, want ready", lines.Text())
	}
	return cmd
}
