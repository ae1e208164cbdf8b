package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// written is a command line in a page or in a workflow.
var written = regexp.MustCompile("(?:cmd/|bin/|`|(?m:^) *)rowproof ([a-z]+)([^`\n#|]*)")

// What the pages and the workflow tell people to type is there to be typed.
func TestWrittenCommands(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, pattern := range []string{"*.md", "Makefile", "docs/*.md", "scenarios/*.md", ".github/workflows/*.yml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("got %q for %s, %v, want files", files, pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range written.FindAllStringSubmatch(string(text), -1) {
				lines++
				checkWritten(t, strings.TrimPrefix(file, root+"/"), m[1], strings.Fields(m[2]))
			}
		}
	}
	if lines < 30 {
		t.Errorf("found %d command lines, want those of all pages", lines)
	}
}

func checkWritten(t *testing.T, file, command string, args []string) {
	t.Helper()
	for _, c := range newRootCommand(console{}).Commands() {
		if c.Name() != command {
			continue
		}
		for _, a := range args {
			name, ok := strings.CutPrefix(a, "--")
			name, _, _ = strings.Cut(name, "=")
			if ok && c.Flags().Lookup(name) == nil {
				t.Errorf("%s: rowproof %s has no flag --%s", file, command, name)
			}
		}
		return
	}
	t.Errorf("%s: rowproof has no command %s", file, command)
}
