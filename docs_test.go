package rowproof_test

import (
	"encoding/json"
	"errors"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// The pages that tell how to add something show whole files, with their path
// behind the fence's language, and changes of files that are there. All of it
// together must still build.
func TestExamplesBuild(t *testing.T) {
	pages, err := filepath.Glob("docs/add-a-*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("got the pages %q, %v, want some", pages, err)
	}
	e := example{replace: map[string]string{}, dir: t.TempDir()}
	for _, page := range pages {
		for _, b := range blocks(t, page) {
			switch {
			case b.language == "diff":
				e.change(t, page, b.text)
			case b.path != "":
				e.add(t, page, b)
			}
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": e.replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(e.dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		append([]string{"vet", "-overlay", path}, e.packages...),
		append([]string{"build", "-overlay", path, "-o", e.dir}, e.commands...),
	} {
		if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
			t.Errorf("go %s what the pages show: %v\n%s", args[0], err, out)
		}
	}
}

// example is what the pages add to the tree and change in it.
type example struct {
	dir      string
	replace  map[string]string // path -> file with what would be there
	packages []string
	commands []string // in directories that are not there, so that vet can't enter them
}

func (e *example) add(t *testing.T, page string, b block) {
	t.Helper()
	if _, err := os.Stat(b.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: the example %s is in the tree (%v)", page, b.path, err)
	}
	if got, err := format.Source([]byte(b.text)); err != nil || string(got) != b.text {
		t.Errorf("%s: %s is not as gofmt writes it (%v)", page, b.path, err)
	}
	e.put(t, b.path, b.text)
}

// change applies a patch whose old lines must each stand in their file once.
func (e *example) change(t *testing.T, page, patch string) {
	t.Helper()
	files, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: got %d changed files, %v", page, len(files), err)
	}
	for _, f := range files {
		name := strings.TrimPrefix(f.NewName, "b/")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, hunk := range f.TextFragments {
			var before, after string
			for _, l := range hunk.Lines {
				if l.Old() {
					before += l.Line
				}
				if l.New() {
					after += l.Line
				}
			}
			if n := strings.Count(text, before); n != 1 {
				t.Errorf("%s: the lines that it changes stand %d times in %s:\n%s", page, n, name, before)
			}
			text = strings.Replace(text, before, after, 1)
		}
		e.put(t, name, text)
	}
}

func (e *example) put(t *testing.T, path, text string) {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(e.dir, strings.ReplaceAll(path, "/", "_"))
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e.replace[abs] = at
	dir := "./" + filepath.Dir(path)
	if _, err := os.Stat(dir); err == nil {
		e.packages = append(e.packages, dir)
	} else {
		e.commands = append(e.commands, dir)
	}
}

// block is a fenced block of a page.
type block struct{ language, path, text string }

var fence = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

func blocks(t *testing.T, page string) (all []block) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fence.FindAllStringSubmatch(string(data), -1) {
		all = append(all, block{language: m[1], path: m[2], text: m[3]})
	}
	return all
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

// Links between pages lead somewhere.
func TestLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "scenarios/*.md", "reports/bench/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	links := 0
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if links == 0 {
		t.Errorf("found no link in %q", pages)
	}
}
