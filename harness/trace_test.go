package harness_test

import (
	"os"
	"testing"

	"rowproof/harness"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/subject"
)

// Tools that can't be had everywhere are looked for where these say.
const (
	ghOstVariable  = "ROWPROOF_GHOST"
	spiritVariable = "ROWPROOF_SPIRIT"
)

// A table of several chunks for each of the tools.
const traced = `CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(32) NOT NULL, val INT NOT NULL DEFAULT 0);
INSERT INTO t (name, val) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT CONCAT('row ', i), i FROM n;
ANALYZE TABLE t;
`

// The tools say all that their phrasebooks know, and no more steps.
func TestPhrasebooksAgainstTools(t *testing.T) {
	for _, tool := range []struct {
		subject string
		flags   []string
		silent  step.Step // that it does not say of this table
	}{
		{"osc", nil, ""},
		{"pt-osc", []string{"--chunk-size=200", "--chunk-time=0"}, ""},
		{program(ghOstVariable, "gh-ost"), []string{"--chunk-size=200"}, ""},
		{program(ghOstVariable, "gh-ost"), []string{"--chunk-size=200", "--cut-over=two-step", "--panic-on-warnings"}, ""},
		// Of a key that counts up it guesses where chunks end.
		{program(spiritVariable, "spirit"), nil, step.CopyNext},
	} {
		t.Run("OK/"+tool.subject, func(t *testing.T) {
			if tool.subject == "" {
				t.Skipf("no program: %s and %s name none", ghOstVariable, spiritVariable)
			}
			root, err := subject.ModuleRoot()
			if err != nil {
				t.Fatal(err)
			}
			trace := harness.Trace{
				Root: root, Subject: tool.subject, Flags: tool.flags, SQL: traced,
				Alter: "MODIFY val BIGINT NOT NULL DEFAULT 0", Dir: t.TempDir(),
				Write: "UPDATE t SET val = val + 1 WHERE id IN (1, 900)",
			}
			exit, err := trace.Run(t.Context())
			if err != nil || exit.Outcome != subject.Completed {
				t.Fatalf("got %+v, %v, want a migration that completed", exit, err)
			}
			agree(t, root, trace, tool.silent)
		})
	}
}

// agree compares what was said with what the phrasebook has.
func agree(t *testing.T, root string, trace harness.Trace, silent step.Step) {
	t.Helper()
	build, err := subject.NewBuild(root)
	if err != nil {
		t.Fatal(err)
	}
	defer build.Close()
	under, err := subject.Parse(build, trace.Subject)
	if err != nil {
		t.Fatal(err)
	}
	said, err := history.LoadStatements(trace.Dir)
	if err != nil {
		t.Fatal(err)
	}
	_, foreign := under.(subject.Foreign)
	met := map[string]bool{}
	for _, s := range said {
		met[s.Step] = true
	}
	for _, s := range step.All() {
		if book := under.Phrasebook(); foreign && s != silent && book.Has(s) != met[string(s)] {
			t.Errorf("step %s: in the phrasebook %v, said %v", s, book.Has(s), met[string(s)])
		}
	}
	if !met[string(step.CopyWrite)] || !met[string(step.Rename)] {
		t.Errorf("of %d statements, none is %s or %s", len(said), step.CopyWrite, step.Rename)
	}
}

func program(variable, tool string) string {
	if path := os.Getenv(variable); path != "" {
		return tool + "=" + path
	}
	return ""
}

func TestTrace(t *testing.T) {
	root, err := subject.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for name, sql := range map[string]string{
		"ErrTwoTables": "CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT PRIMARY KEY)",
		"ErrNoTable":   "SELECT 1",
		"ErrSQL":       "CREATE TABLE a (id INT PRIMARY",
	} {
		t.Run(name, func(t *testing.T) {
			exit, err := harness.Trace{Root: root, Subject: "osc", SQL: sql, Alter: "ADD c INT", Dir: t.TempDir()}.Run(t.Context())
			if err == nil {
				t.Errorf("got %+v, want an error", exit)
			}
		})
	}
}
