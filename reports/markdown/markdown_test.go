package markdown_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/fixtures/histories"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/markdown"
)

var update = flag.Bool("update", false, "write the golden files anew")

func store(t *testing.T, r *history.Record) reports.Run {
	t.Helper()
	dir := t.TempDir()
	if err := history.Save(dir, r); err != nil {
		t.Fatal(err)
	}
	if err := check.SaveConclusion(dir, check.Conclude(r, check.Judge(r), nil, 1.5)); err != nil {
		t.Fatal(err)
	}
	runs, err := reports.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return runs[0]
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func bug(t *testing.T, run reports.Run) string {
	t.Helper()
	if err := markdown.WriteBug(run); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(run.Dir, markdown.BugFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteBug(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		r := histories.LostAfterSync()
		r.Servers = []history.Server{{Name: "source", Version: "9.7.4", Options: map[string]string{"gtid_mode": "ON", "a": "1"}}}
		r.Repeat = "go run ./cmd/rowproof run seam-after-sync --seed 1"
		golden(t, "bug.golden", bug(t, store(t, r)))
	})

	t.Run("OK/NoDirectoryOfThisMachine", func(t *testing.T) {
		r := histories.LostAfterSync()
		r.Repeat = "go run ./cmd/rowproof run seam-after-sync --subject gh-ost=/home/me/bin/gh-ost --subject-flag=--hooks-path=/etc/gh-ost/hooks --seed 1"
		r.Marks = append(r.Marks, history.Mark{Lane: "subject", Name: history.MarkSubjectStart,
			Text: "/home/me/bin/gh-ost --conf /tmp/rowproof-1/client.cnf --alter ADD COLUMN d DECIMAL(4,2) DEFAULT 1/2 --socket=/tmp/rowproof-1/sock"})
		got := bug(t, store(t, r))
		for _, want := range []string{
			"--subject gh-ost=PATH --subject-flag=--hooks-path=hooks --seed 1\n",
			"`gh-ost --conf client.cnf --alter ADD COLUMN d DECIMAL(4,2) DEFAULT 1/2 --socket=sock`",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("the report lacks %q:\n%s", want, got)
			}
		}
		if strings.Contains(got, "/home/") || strings.Contains(got, "/tmp/") {
			t.Errorf("the report names a directory of this machine:\n%s", got)
		}
	})

	// Nothing of a value is left for HTML to act upon: outside of code, each
	// character that it knows is escaped.
	t.Run("OK/Nasty", func(t *testing.T) {
		got := bug(t, store(t, histories.Made(3)))
		if !strings.Contains(got, "obeyed") {
			t.Fatal("the report lacks the value")
		}
		for _, line := range strings.Split(outsideCode(t, got), "\n") {
			for i, r := range line {
				before := line[:i]
				escaped := (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
				if strings.ContainsRune("<>&", r) && !escaped {
					t.Errorf("a bare %c at byte %d of %q", r, i, line)
				}
			}
		}
		for _, r := range got {
			if r < ' ' && r != '\n' || r == '\u202e' || r == '\u2028' {
				t.Errorf("the report holds the control character %q", r)
			}
		}
	})

	t.Run("OK/ValidRunHasNone", func(t *testing.T) {
		r := histories.Made(1)
		r.Planned, r.Observed.Comparison.Diffs = r.Planned[:1], nil
		r.Observed.Final = map[history.Key]history.Row{"1": {"name": history.Text(histories.Nasty), "val": history.Text("0")}}
		run := store(t, r)
		if run.Conclusion.Judgement.Verdict != check.Valid {
			t.Fatalf("verdict: got %+v, want Valid", run.Conclusion)
		}
		path := filepath.Join(run.Dir, markdown.BugFile)
		if err := os.WriteFile(path, []byte("of an older verdict"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := markdown.WriteBug(run); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("a valid run has a bug report")
		}
	})

	t.Run("OK/LittleWasStored", func(t *testing.T) {
		run := store(t, histories.LostAfterSync())
		if err := os.Remove(filepath.Join(run.Dir, history.MarksFile)); err != nil {
			t.Fatal(err)
		}
		if got := bug(t, run); !strings.HasPrefix(got, "# Lost row in `pair`") {
			t.Errorf("report: got %.80q", got)
		}
	})

	t.Run("ErrNoDirectory", func(t *testing.T) {
		run := store(t, histories.LostAfterSync())
		run.Dir = filepath.Join(run.Dir, "absent")
		if err := markdown.WriteBug(run); err == nil {
			t.Error("write: got no error")
		}
	})
}

// outsideCode removes code spans and blocks: runs of backticks of one length,
// as Markdown reads them.
func outsideCode(t *testing.T, s string) string {
	t.Helper()
	var out strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '`')
		if i < 0 {
			out.WriteString(s)
			break
		}
		if i > 0 && s[i-1] == '\\' { // escaped, outside of code
			out.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		out.WriteString(s[:i])
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		s = s[i+n:]
		for { // the closing run is as long as the opening one
			j := strings.IndexByte(s, '`')
			if j < 0 {
				t.Fatal("a code span does not end")
			}
			m := len(s[j:]) - len(strings.TrimLeft(s[j:], "`"))
			s = s[j+m:]
			if m == n {
				break
			}
		}
	}
	return out.String()
}

func TestSummary(t *testing.T) {
	good := histories.LostAfterSync()
	good.Control = true
	bad := histories.StaleCopy()
	bad.Scenario, bad.Repeat = "made|up", "go run ./cmd/rowproof run made-up"
	runs := []reports.Run{store(t, good), store(t, bad)}

	t.Run("OK", func(t *testing.T) { golden(t, "summary.golden", markdown.Summary(runs)) })

	t.Run("OK/Append", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "summary.md")
		for range 2 {
			if err := markdown.AppendSummary(path, runs); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(data), "rowproof: 2 runs: 1 as expected, 1 not"); got != 2 {
			t.Errorf("summaries: got %d, want 2", got)
		}
	})

	t.Run("ErrAppend", func(t *testing.T) {
		if err := markdown.AppendSummary(t.TempDir(), runs); err == nil {
			t.Error("append to a directory: got no error")
		}
	})
}
