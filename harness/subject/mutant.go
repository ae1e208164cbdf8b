package subject

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutantsDir holds the patches, below the module's root.
const mutantsDir = "fixtures/mutants"

// Mutant returns the subject "mutant:NAME": the engine with the bug that
// fixtures/mutants/NAME.patch puts back.
func Mutant(b *Build, name string) Subject { return engine{build: b, mutant: name} }

// Mutants lists the names of the mutants of the module at root.
func Mutants(root string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, mutantsDir))
	if err != nil {
		return nil, fmt.Errorf("list mutants: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".patch"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// MutantBug returns the bug that a mutant has, in the words that head its
// patch.
func MutantBug(root, name string) (string, error) {
	p, err := readPatch(root, name)
	if err != nil {
		return "", err
	}
	return p.bug, nil
}

// ModuleRoot returns the directory of the go.mod of module rowproof that is
// the working directory or the nearest one above it.
func ModuleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find module rowproof: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && moduleName(string(data)) == "rowproof" {
			return dir, nil
		}
		if err != nil && !os.IsNotExist(err) {
			return "", fmt.Errorf("find module rowproof: %w", err)
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find module rowproof: no go.mod of it in %s or above: %w", start, fs.ErrNotExist)
		}
	}
}

func moduleName(gomod string) string {
	for line := range strings.Lines(gomod) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return ""
}
