// Package catalogue writes down what is known of all scenarios: the page that
// stands beside them, and a picture of which scenario finds which mutant.
//
// Read Catalogue first. Nothing is typed by hand: the page is made from the
// scenarios and from the findings that are stored in check.KnownDir.
package catalogue

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

// Where the page and the picture are, below the module's root.
const (
	PageFile    = "scenarios/README.md"
	PictureFile = check.KnownDir + "/kills.svg"
)

// Scenario is what the page tells of a scenario.
type Scenario struct {
	ID      string
	Bug     string // one line
	Guards  check.Kind
	Control string   // the mutant, by its name alone
	Reports []string // public reports of the bug, by short names
}

// Catalogue is what the page is made from.
type Catalogue struct {
	Scenarios []Scenario // by ID
	Known     check.Findings
}

//go:embed assets
var assets embed.FS

// Files returns what the files hold, by their paths below the module's root.
func (c Catalogue) Files() (map[string][]byte, error) {
	page, err := render("page.md.tmpl", c.page())
	if err != nil {
		return nil, err
	}
	picture, err := render("kills.svg.tmpl", c.picture())
	if err != nil {
		return nil, err
	}
	return map[string][]byte{PageFile: page, PictureFile: picture}, nil
}

// Write writes the files of the module at root.
func (c Catalogue) Write(root string) error {
	files, err := c.Files()
	if err != nil {
		return err
	}
	for file, data := range files {
		if err := os.WriteFile(filepath.Join(root, file), data, 0o644); err != nil {
			return fmt.Errorf("write catalogue: %w", err)
		}
	}
	return nil
}

func render(name string, data any) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{"join": strings.Join}).ParseFS(assets, path.Join("assets", name))
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("fill in template: %w", err)
	}
	return b.Bytes(), nil
}

// scenario returns the scenario with an ID.
func (c Catalogue) scenario(id string) (Scenario, bool) {
	i := slices.IndexFunc(c.Scenarios, func(s Scenario) bool { return s.ID == id })
	if i < 0 {
		return Scenario{}, false
	}
	return c.Scenarios[i], true
}

// isMutant tells mutants from other subjects.
func isMutant(f check.Finding) bool { return strings.HasPrefix(f.Subject, history.MutantPrefix) }
