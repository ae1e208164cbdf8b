package rowproof_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The layers of the project, and what each may import of it. A package is
// found by the longest prefix that fits. "children" are the packages below.
var mayImport = map[string][]string{
	"cmd/osc":      {"engine", "engine/..."},
	"cmd/rowproof": {"harness", "harness/...", "reports", "reports/..."},
	"scenarios":    {"harness", "harness/...", "fixtures"},

	"engine":                {"engine/..."},
	"engine/...":            {"engine/ddl", "engine/mysql"}, // no sibling else
	"engine/ddl":            {},
	"engine/mysql":          {"engine/ddl"},
	"harness":               {"harness/...", "fixtures"},
	"harness/bench":         {"harness/bench/figures", "harness/step", "harness/subject", "harness/topology", "harness/wire", "fixtures"},
	"harness/bench/figures": {},
	"harness/check":         {"harness/history"},
	"harness/fault":         {"harness/freeze", "harness/history", "harness/observe", "harness/step", "harness/topology", "harness/wire", "harness/workload", "fixtures"},
	"harness/freeze":        {},
	"harness/history":       {},
	"harness/observe":       {"harness/history", "harness/check"},
	"harness/script":        {"harness", "harness/check", "harness/fault", "harness/history", "harness/step", "harness/subject", "harness/topology", "harness/workload", "fixtures"},
	"harness/step":          {},
	"harness/subject":       {"harness/history", "harness/step", "harness/topology", "harness/wire"},
	"harness/topology":      {"fixtures/images"},
	"harness/wire":          {"harness/history", "harness/step"},
	"harness/workload":      {"harness/history", "fixtures"},
	"reports":               {"harness/history", "harness/check", "harness/step"},
	"reports/benchmark":     {"harness/bench/figures"},
	"reports/catalogue":     {"harness/check", "harness/history"},
	"reports/html":          {"reports", "reports/rows", "reports/timeline", "harness/check", "harness/history"},
	"reports/markdown":      {"reports", "reports/rows", "reports/timeline", "harness/check", "harness/history"},
	"reports/parting":       {"harness/history", "harness/check"},
	"reports/rows":          {"reports", "harness/history"},
	"reports/schema":        {},
	"reports/timeline":      {"harness/history", "harness/check"},
	"fixtures":              {},
	"fixtures/histories":    {"harness/history"},
	"fixtures/images":       {},
}

// Imports go one way, so that a layer can be read, and trusted, without the
// ones above it. Above all, the harness never imports the engine: it must
// treat our engine as it treats any other tool.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from, ok := strings.CutPrefix(fields[0], "rowproof/")
		if !ok {
			continue // the root, which holds tests alone
		}
		seen++
		allowed, known := rule(from)
		if !known {
			t.Errorf("package %s has no rule: say in mayImport what it may import", from)
			continue
		}
		for _, imported := range fields[1:] {
			to, ours := strings.CutPrefix(imported, "rowproof/")
			if ours && !fits(to, allowed) {
				t.Errorf("%s imports %s: it may import %s", from, to, strings.Join(allowed, ", "))
			}
		}
	}
	if seen < len(mayImport)-1 {
		t.Errorf("found %d packages, expected at least %d: is a rule left over?", seen, len(mayImport)-1)
	}
}

func rule(pkg string) ([]string, bool) {
	if allowed, ok := mayImport[pkg]; ok {
		return allowed, true
	}
	parent, _, _ := strings.Cut(pkg, "/")
	allowed, ok := mayImport[parent+"/..."]
	return allowed, ok
}

func fits(pkg string, allowed []string) bool {
	return slices.ContainsFunc(allowed, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
			return strings.HasPrefix(pkg, prefix+"/")
		}
		return pkg == pattern
	})
}
