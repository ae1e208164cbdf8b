package script_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/harness/script"
	"rowproof/harness/step"
)

// A file must reach every fault: whatever package fault exports that gives an
// Action or a Fault, or says at which event, statement, session or path, must
// be in the catalogue.
func TestCatalogueIsWhole(t *testing.T) {
	results := []string{"Action", "Fault", "Event", "Sessions", "Path", "Pick"}
	var want []string
	for _, f := range declarations(t, "../fault") {
		fn, ok := f.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !fn.Name.IsExported() || fn.Type.Results == nil {
			continue
		}
		if result, ok := fn.Type.Results.List[0].Type.(*ast.Ident); ok && slices.Contains(results, result.Name) {
			want = append(want, fn.Name.Name)
		}
	}
	// These are Before and After with fault.Of(s).Nth(n), which a file writes
	// as nth.
	want = slices.DeleteFunc(want, func(name string) bool { return name == "BeforeNth" || name == "AfterNth" })
	got := script.GoNames()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("constructors of package fault (-) and of the catalogue (+):\n%s", diff)
	}
	for _, misfit := range script.Misfits() {
		t.Error(misfit)
	}
}

// Generated Go names steps and anomalies by their constants.
func TestConstants(t *testing.T) {
	steps := map[string]string{}
	for _, s := range step.All() {
		steps[script.Camel(string(s))] = string(s)
	}
	if diff := cmp.Diff(constants(t, "../step", "Step"), steps); diff != "" {
		t.Errorf("steps of the package (-) and by name (+):\n%s", diff)
	}
	for typ, words := range script.Words() {
		if diff := cmp.Diff(constants(t, "../fault", typ), words); diff != "" {
			t.Errorf("%s of package fault (-) and of a file (+):\n%s", typ, diff)
		}
	}
	kinds := map[string]string{}
	for name, k := range script.Kinds() {
		kinds[name] = string(check.Kind(k))
	}
	if diff := cmp.Diff(constants(t, "../check", "Kind"), kinds); diff != "" {
		t.Errorf("anomalies of the package (-) and of a file (+):\n%s", diff)
	}
}

// constants returns the constants of a type, by name.
func constants(t *testing.T, dir, typ string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, d := range declarations(t, dir) {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if of, ok := v.Type.(*ast.Ident); ok && of.Name == typ {
				found[v.Names[0].Name] = strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)
			}
		}
	}
	return found
}

// declarations returns all that a package declares outside its tests.
func declarations(t *testing.T, dir string) []ast.Decl {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), dir, func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go")
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []ast.Decl
	for _, p := range packages {
		for _, f := range p.Files {
			all = append(all, f.Decls...)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no Go source in %s", dir)
	}
	return all
}
