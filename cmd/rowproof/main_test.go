package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
)

// selfEnv makes the test binary rowproof itself, so that a test can
// interrupt it.
const selfEnv = "ROWPROOF_TEST_SELF"

func TestMain(m *testing.M) {
	if os.Getenv(selfEnv) != "" {
		main()
	}
	os.Unsetenv(actionsEnv) // what the tests report is no news for a job
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

// result is what a command line did.
type result struct {
	status   int
	out, err string
}

// rowproof runs a command line in the module of testdata.
func rowproof(t *testing.T, args ...string) result {
	t.Helper()
	t.Chdir("testdata/module")
	return rowproofHere(t, args...)
}

func rowproofHere(t *testing.T, args ...string) result {
	t.Helper()
	dir := t.TempDir()
	c := console{out: create(t, dir, "out"), err: create(t, dir, "err")}
	status := execute(args, c)
	return result{status, read(t, c.out.Name()), read(t, c.err.Name())}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"list", "--help"}, {"catalogue", "--help"}, {"judge", "--help"}, {"report", "--help"}, {"record", "--help"}, {"trace", "--help"}, {"doctor", "--help"}, {"generate", "--help"}} {
		t.Run("OK/"+strings.Join(args, " "), func(t *testing.T) {
			got := rowproofHere(t, args...)
			if got.status != exitExpected || !strings.Contains(got.out, "Examples:") {
				t.Errorf("got status %d, output %q, want 0 and examples", got.status, got.out)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		got := rowproof(t, "list")
		want := `SCENARIO          GUARDS    CONTROL          BUG
bad               lost row  mutant:careless  the bad one stays bad.
dies              lost row  mutant:careless  it ends in the middle.
flaky             lost row  mutant:careless  once it is so, then it is not.
good              lost row  mutant:careless  the good one goes bad.
good-but-leaking  lost row  mutant:careless  a goroutine is left behind.
hangs             lost row  mutant:careless  it never ends.
kept              lost row  mutant:careless  one can't look at it.
no-docker         lost row  mutant:careless  there is no Docker engine.
nothing           lost row  mutant:careless  it does nothing.
parallel          lost row  mutant:careless  one at a time takes long.
`
		if diff := cmp.Diff(want, got.out); diff != "" || got.status != exitExpected {
			t.Errorf("status %d, output (-want +got):\n%s%s", got.status, diff, got.err)
		}
	})

	t.Run("OK/Pattern", func(t *testing.T) {
		if got := rowproof(t, "list", "n*"); strings.Count(got.out, "\n") != 3 {
			t.Errorf("output: got %q, want a head and two scenarios", got.out)
		}
	})

	t.Run("OK/JSON", func(t *testing.T) {
		got := rowproof(t, "list", "go*", "--json")
		var scenarios []listed
		if err := json.Unmarshal([]byte(got.out), &scenarios); err != nil {
			t.Fatalf("output %q: %v", got.out, err)
		}
		want := []listed{
			{"good", "lost row", "mutant:careless", "the good one goes bad.", "TestGood", nil},
			{"good-but-leaking", "lost row", "mutant:careless", "a goroutine is left behind.", "TestGoodButLeaking", nil},
		}
		if diff := cmp.Diff(want, scenarios); diff != "" {
			t.Errorf("scenarios (-want +got):\n%s", diff)
		}
	})

	t.Run("ErrNoModule", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if got := rowproofHere(t, "list"); got.status != exitEnvironment {
			t.Errorf("got %+v, want status %d", got, exitEnvironment)
		}
	})

	t.Run("ErrNoGo", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		got := rowproof(t, "list")
		if got.status != exitEnvironment || !strings.Contains(got.err, "go command") {
			t.Errorf("got %+v, want status %d and a word about the go command", got, exitEnvironment)
		}
	})
}

func TestRun(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		suite := filepath.Join(t.TempDir(), "suite")
		got := rowproof(t, "run", "good", "--out", suite, "--repeat", "2", "--seed", "42")
		if got.status != exitExpected {
			t.Fatalf("got %+v, want status %d", got, exitExpected)
		}
		for _, want := range []string{"Invalid (as it must)", "lost row", "6 runs: 6 as expected, 0 not"} {
			if !strings.Contains(got.out, want) {
				t.Errorf("output %q lacks %q", got.out, want)
			}
		}
		if want := "Valid (as expected) 1.50 s"; strings.Count(got.err, want) < 2 {
			t.Errorf("progress %q lacks %q", got.err, want)
		}
		var results reports.Results
		if err := json.Unmarshal([]byte(read(t, filepath.Join(suite, reports.ResultsFile))), &results); err != nil {
			t.Fatal(err)
		}
		if results.Runs != 6 || results.Expected != 6 || results.Results[0].Seed != 42 {
			t.Errorf("results: got %+v", results)
		}
		for _, name := range []string{reports.JUnitFile, logFile} {
			if read(t, filepath.Join(suite, name)) == "" {
				t.Errorf("%s is empty", name)
			}
		}
	})

	t.Run("OK/Subject", func(t *testing.T) {
		got := rowproof(t, "run", "good", "--out", t.TempDir(), "--subject", "osc")
		if got.status != exitExpected || !strings.Contains(got.out, "1 run: 1 as expected") {
			t.Errorf("got %+v, want one run", got)
		}
	})

	t.Run("OK/Parallel", func(t *testing.T) {
		suite := t.TempDir()
		got := rowproof(t, "run", "parallel", "--out", suite, "--parallel", "3")
		if note := read(t, filepath.Join(suite, "parallel", "osc", "1", "parallel.json")); note != `"3"` || got.status != exitExpected {
			t.Errorf("got %+v, the scenarios read %s, want 3", got, note)
		}
	})

	t.Run("OK/EmptyShard", func(t *testing.T) {
		suite := t.TempDir()
		got := rowproof(t, "run", "good", "--shard", "2/2", "--out", suite)
		if want := "--shard 2/2: none of the 1 scenarios is in it\n"; got.status != exitExpected || got.out != want {
			t.Errorf("got %+v, want status 0 and %q", got, want)
		}
		if junit := read(t, filepath.Join(suite, reports.JUnitFile)); !strings.Contains(junit, `tests="0"`) {
			t.Errorf("%s: got %q, want no test", reports.JUnitFile, junit)
		}
	})

	t.Run("OK/Shards", func(t *testing.T) {
		first := rowproof(t, "run", "go*", "bad", "--shard", "1/3", "--subject", "osc", "--out", t.TempDir())
		if first.status != exitUnexpected || !strings.Contains(first.out, "1 run:") || !strings.Contains(first.out, "bad on osc") {
			t.Errorf("first share: got %+v, want the one run of bad", first)
		}
		second := rowproofHere(t, "run", "go*", "bad", "--shard", "2/3", "--subject", "osc", "--out", t.TempDir())
		if second.status != exitExpected || !strings.Contains(second.out, "1 run: 1 as expected") {
			t.Errorf("second share: got %+v, want the one run of good", second)
		}
	})

	t.Run("ErrFlaky", func(t *testing.T) {
		got := rowproof(t, "run", "flaky", "--out", t.TempDir())
		if want := "  flaky  osc  Valid 2, Invalid 1 (lost row)\n"; got.status != exitUnexpected || !strings.Contains(got.out, want) {
			t.Errorf("got %+v, want status %d and %q", got, exitUnexpected, want)
		}
	})

	unexpected := map[string][]string{
		"bad":              {"not as expected"},
		"dies":             {"the run ended without a verdict"},
		"good-but-leaking": {"found unexpected goroutines", "still the scenarios failed"},
		"nothing":          {"no scenario ran", "nothing was done", logFile},
	}
	for scenario, want := range unexpected {
		t.Run("Err/"+scenario, func(t *testing.T) {
			got := rowproof(t, "run", scenario, "--out", t.TempDir())
			if got.status != exitUnexpected {
				t.Errorf("status: got %d, want %d", got.status, exitUnexpected)
			}
			for _, part := range want {
				if !strings.Contains(strings.ToLower(got.out+got.err), strings.ToLower(part)) {
					t.Errorf("output %q and %q lack %q", got.out, got.err, part)
				}
			}
		})
	}

	t.Run("ErrNoDocker", func(t *testing.T) {
		got := rowproof(t, "run", "no-docker", "--out", t.TempDir())
		if want := "rowproof: no Docker engine answers\n"; got.status != exitEnvironment || !strings.HasSuffix(got.err, want) {
			t.Errorf("got %+v, want status %d and %q", got, exitEnvironment, want)
		}
	})

	full := t.TempDir()
	create(t, full, "file")
	wrong := map[string][]string{
		"Scenario":    {"run", "absent"},
		"Pattern":     {"run", "[", "--out", filepath.Join(full, "new")},
		"Subject":     {"run", "--subject", "mutant:absent"},
		"NoProgram":   {"run", "--subject", "gh-ost=" + filepath.Join(full, "absent")},
		"NotAProgram": {"run", "--subject", "osc,spirit=" + filepath.Join(full, "file")},
		"NoSuchTool":  {"run", "--subject", "lhm"},
		"Trace":       {"trace"},
		"TraceOf":     {"trace", "lhm"},
		"TraceTable":  {"trace", "osc", "--table-file", filepath.Join(full, "absent")},
		"RecordNone":  {"record"},
		"NoSubject":   {"run", "--subject", ""},
		"Repeat":      {"run", "--repeat", "0"},
		"Parallel":    {"run", "--parallel", "0"},
		"Shard0":      {"run", "--shard", "0/8"},
		"Shard9":      {"run", "--shard", "9/8"},
		"ShardText":   {"run", "--shard", "x"},
		"ShardHalf":   {"run", "--shard", "1/"},
		"Seed":        {"run", "--seed", "-1"},
		"Load":        {"run", "--load", "steady"},
		"LoadNoRoom":  {"run", "nothing", "--load", "random"},
		"OutIsUsed":   {"run", "good", "--out", full},
		"Flag":        {"run", "--absent"},
		"Command":     {"absent"},
		"NoRuns":      {"report", full},
		"JudgeNone":   {"judge"},
		"JudgeFalse":  {"judge", filepath.Join(full, "absent")},
	}
	for name, args := range wrong {
		t.Run("ErrUsage/"+name, func(t *testing.T) {
			got := rowproof(t, args...)
			if got.status != exitUsage || !strings.HasPrefix(got.err[strings.Index(got.err, "rowproof:"):], "rowproof: ") {
				t.Errorf("got %+v, want status %d and a reason", got, exitUsage)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(t.TempDir(), "suite")
	cmd := exec.CommandContext(t.Context(), self, "run", "hangs", "--out", suite)
	cmd.Dir = "testdata/module"
	cmd.Env = append(os.Environ(), selfEnv+"=1")
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && lines.Text() != "hanging" {
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var rest strings.Builder
	for lines.Scan() {
		rest.WriteString(lines.Text())
	}
	_ = cmd.Wait() // its status is looked at below
	if got := cmd.ProcessState.ExitCode(); got != exitUnexpected || !strings.Contains(rest.String(), "rowproof: interrupted") {
		t.Errorf("got status %d, %q, want %d and that it was interrupted", got, rest.String(), exitUnexpected)
	}
	if !strings.Contains(out.String(), "the run ended without a verdict") {
		t.Errorf("report %q does not tell of the run that was cut short", out.String())
	}
	if got := read(t, filepath.Join(suite, "hangs", "osc", "1", "interrupted.json")); got != "true" {
		t.Errorf("note of the scenario: got %q", got)
	}
}

func TestStored(t *testing.T) {
	suite := filepath.Join(t.TempDir(), "suite")
	if got := rowproof(t, "run", "good", "bad", "--out", suite); got.status != exitUnexpected {
		t.Fatalf("got %+v, want status %d", got, exitUnexpected)
	}

	t.Run("OK/Report", func(t *testing.T) {
		out := t.TempDir()
		got := rowproofHere(t, "report", filepath.Join(suite, "good"), "--out", out)
		if got.status != exitExpected || !strings.Contains(got.out, "3 runs: 3 as expected, 0 not") {
			t.Errorf("got %+v, want status 0 and three runs", got)
		}
		if !strings.Contains(read(t, filepath.Join(out, reports.JUnitFile)), `tests="3"`) {
			t.Errorf("%s does not hold three tests", reports.JUnitFile)
		}
	})

	t.Run("ErrUnexpected", func(t *testing.T) {
		if got := rowproofHere(t, "report", suite); got.status != exitUnexpected {
			t.Errorf("got %+v, want status %d", got, exitUnexpected)
		}
	})

	// The runs stored too little to be judged again, so they stay as they are.
	t.Run("OK/Judge", func(t *testing.T) {
		if got := rowproofHere(t, "judge", filepath.Join(suite, "good")); got.status != exitExpected {
			t.Errorf("got %+v, want status %d", got, exitExpected)
		}
	})
}

// stored saves a run of a foreign tool in which a row was lost.
func stored(t *testing.T, dir string) {
	t.Helper()
	r := &history.Record{Scenario: "s", Subject: "gh-ost", Foreign: true, Version: "1.1.7", Guards: "lost row", Expect: "completed",
		Exit: history.Exit{Outcome: "completed"}}
	r.Observed.Comparison = history.Comparison{Done: true, Diffs: []history.RowDiff{{Key: "1", Want: history.Row{}}}}
	if err := history.Save(dir, r); err != nil {
		t.Fatal(err)
	}
	if err := check.SaveConclusion(dir, check.Conclude(r, check.Judge(r), nil, 1)); err != nil {
		t.Fatal(err)
	}
}

// What is recorded of a tool is as expected from then on.
func TestRecord(t *testing.T) {
	module := t.TempDir()
	for _, dir := range []string{"run", check.KnownDir} {
		if err := os.MkdirAll(filepath.Join(module, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module rowproof\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(module, "run")
	stored(t, dir)
	t.Chdir(module)
	if got := rowproofHere(t, "judge", dir); got.status != exitUnexpected || !strings.Contains(got.out, check.KnownDir) {
		t.Errorf("got %+v, want status %d before it is recorded", got, exitUnexpected)
	}
	if got := rowproofHere(t, "record", dir); got.status != exitExpected || !strings.Contains(got.out, "gh-ost.json: 1") {
		t.Errorf("got %+v, want status %d and the file", got, exitExpected)
	}
	got := rowproofHere(t, "judge", dir)
	if got.status != exitExpected || !strings.Contains(got.out, "Invalid (as known)") || !strings.Contains(got.out, check.NoReport) {
		t.Errorf("got %+v, want status %d and that it is known", got, exitExpected)
	}

	report := filepath.Join(module, check.KnownDir, "runs", "gh-ost", "s.md")
	if got := read(t, report); !strings.HasPrefix(got, "# Lost row") {
		t.Errorf("the report on the run begins with %.40q", got)
	}

	// Once the tool is right, no report on an older run stays.
	t.Run("OK/Valid", func(t *testing.T) {
		storeVerdict(t, dir, check.Valid)
		if got := rowproofHere(t, "record", dir); got.status != exitExpected {
			t.Errorf("got %+v, want status %d", got, exitExpected)
		}
		if _, err := os.Stat(report); err == nil {
			t.Errorf("%s is still there", report)
		}
	})

	t.Run("OK/Ours", func(t *testing.T) {
		ours := t.TempDir()
		for _, name := range []string{"osc", "mutant:careless"} {
			dir := filepath.Join(ours, strings.TrimPrefix(name, "mutant:"))
			if err := history.Save(dir, &history.Record{Scenario: "s", Subject: name}); err != nil {
				t.Fatal(err)
			}
			storeVerdict(t, dir, check.Valid)
		}
		got := rowproofHere(t, "record", ours)
		if got.status != exitExpected || !strings.Contains(got.out, "mutants.json: 1") || !strings.Contains(got.out, "osc.json: 1") {
			t.Errorf("got %+v, want status %d and both files", got, exitExpected)
		}
		// No commit is known where there is no repository.
		if got := read(t, filepath.Join(module, check.KnownDir, "osc.json")); !strings.Contains(got, `"version": "unknown"`) {
			t.Errorf("finding: %s", got)
		}
	})

	t.Run("ErrUnknown", func(t *testing.T) {
		storeVerdict(t, dir, check.Unknown)
		if got := rowproofHere(t, "record", dir); got.status != exitUnexpected {
			t.Errorf("got %+v, want status %d", got, exitUnexpected)
		}
	})
}

// storeVerdict gives a stored run another verdict.
func storeVerdict(t *testing.T, dir string, v check.Verdict) {
	t.Helper()
	if err := check.SaveConclusion(dir, check.Conclusion{Judgement: check.Judgement{Verdict: v}}); err != nil {
		t.Fatal(err)
	}
}

func TestTraceOfStoredRun(t *testing.T) {
	dir := t.TempDir()
	line := `{"time":"2026-03-01T12:00:00Z","conn":3,"thread":9,"kind":"query","sql":"LOCK TABLES t WRITE","step":"lock"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, history.StatementsFile), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	got := rowproofHere(t, "trace", dir)
	if got.status != exitExpected || !strings.Contains(got.out, "lock        LOCK TABLES t WRITE") || !strings.Contains(got.out, "never said: preflight") {
		t.Errorf("got %+v, want the statement with its step", got)
	}
}

func TestJudgeTellsWhatChanged(t *testing.T) {
	dir := t.TempDir()
	if err := history.Save(dir, &history.Record{Scenario: "s", Subject: "osc", Planned: []string{"never-fires"}}); err != nil {
		t.Fatal(err)
	}
	valid := check.Conclusion{Judgement: check.Judgement{Verdict: check.Valid}, Expected: true}
	if err := check.SaveConclusion(dir, valid); err != nil {
		t.Fatal(err)
	}
	got := rowproofHere(t, "judge", dir)
	if got.status != exitUnexpected || !strings.Contains(got.err, dir+" was Valid and is ") {
		t.Errorf("got %+v, want status %d and that the verdict changed", got, exitUnexpected)
	}
	if got := rowproofHere(t, "judge", dir); strings.Contains(got.err, " was ") {
		t.Errorf("judged once more: got %q, want no change", got.err)
	}

	// The same verdict for another reason is a change, too.
	stored, err := check.LoadConclusion(dir)
	if err != nil {
		t.Fatal(err)
	}
	stored.Judgement.Results = []check.Result{{Checker: "c", Verdict: check.Unknown, Anomalies: []check.Anomaly{{Kind: check.LostRow}}}}
	if err := check.SaveConclusion(dir, stored); err != nil {
		t.Fatal(err)
	}
	if got, want := rowproofHere(t, "judge", dir), dir+" was Unknown (lost row) and is Unknown now"; !strings.Contains(got.err, want) {
		t.Errorf("got %q, want %q", got.err, want)
	}
}

func create(t *testing.T, dir, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
