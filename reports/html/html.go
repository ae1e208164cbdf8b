// Package html makes the pages that people look at: one for each run, with
// the answer, the reason and a timeline, and one for the whole suite.
//
// Read Pages.WriteRun first. A page is one file that needs no network and no
// other file: style, scripts and data are in it. Whatever comes from a table
// may hold anything, so html/template escapes all text, the timeline's data is
// compressed and encoded, and the page's own policy lets no script run but the
// two that this package brings.
package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"time"

	"rowproof/reports"
)

// Names of the pages.
const (
	RunFile   = reports.PageFile // in a run directory
	SuiteFile = "index.html"     // in a suite's directory
)

//go:embed assets
var assets embed.FS

// frame is what every page has.
type frame struct {
	Title  string
	Policy string
	Style  template.CSS
	Script template.JS
}

func newFrame(title, script string) (frame, error) {
	style, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return frame{}, fmt.Errorf("read page style: %w", err)
	}
	code, err := assets.ReadFile("assets/" + script)
	if err != nil {
		return frame{}, fmt.Errorf("read page script: %w", err)
	}
	policy := fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'", digest(style), digest(code))
	return frame{Title: title, Policy: policy, Style: template.CSS(style), Script: template.JS(code)}, nil
}

// digest names a text in a content security policy.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Pages writes pages. It is safe for use by many goroutines.
type Pages struct{ templates *template.Template }

// NewPages reads the templates.
func NewPages() (Pages, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"ms":      milliseconds,
		"show":    func(v any) string { return reports.Printable(fmt.Sprint(v)) },
		"seconds": func(s float64) string { return fmt.Sprintf("%.2f", s) },
	}).ParseFS(assets, "assets/*.tmpl")
	if err != nil {
		return Pages{}, fmt.Errorf("read page templates: %w", err)
	}
	return Pages{t}, nil
}

func (p Pages) write(path, name string, page any) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return p.render(f, name, page)
}

func (p Pages) render(w io.Writer, name string, page any) error {
	if err := p.templates.ExecuteTemplate(w, name, page); err != nil {
		return fmt.Errorf("write page %s: %w", name, err)
	}
	return nil
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
