package subject

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"rowproof/harness/history"
)

// Names of the tools of others. Of the first two, users name the program:
// "gh-ost=PATH".
const (
	ghOstName  = "gh-ost"
	spiritName = "spirit"
	ptOscName  = "pt-osc"
)

// Parse returns the subject that users name so: osc, mutant:NAME, gh-ost=PATH,
// spirit=PATH, pt-osc. Its error is one line that says what is missing.
func Parse(b *Build, name string) (Subject, error) {
	name, err := Resolve(b.root, name)
	if err != nil {
		return nil, err
	}
	mutant, isMutant := strings.CutPrefix(name, history.MutantPrefix)
	tool, path, _ := strings.Cut(name, "=")
	switch {
	case isMutant:
		return Mutant(b, mutant), nil
	case tool == ghOstName:
		return ghOst{program: program{build: b, tool: tool, path: path}}, nil
	case tool == spiritName:
		return spirit{program{build: b, tool: tool, path: path}}, nil
	case tool == ptOscName:
		return ptOsc{build: b}, nil
	}
	return Engine(b), nil
}

// Resolve checks that the module at root can run the subject that users name
// so, and returns the name with the whole path of its program.
func Resolve(root, name string) (string, error) {
	mutant, isMutant := strings.CutPrefix(name, history.MutantPrefix)
	tool, path, isProgram := strings.Cut(name, "=")
	switch {
	case name == "osc" || name == ptOscName:
		return name, nil
	case isProgram && (tool == ghOstName || tool == spiritName):
		path, err := findProgram(path)
		if err != nil {
			return "", fmt.Errorf("find subject %q: %w", name, err)
		}
		return tool + "=" + path, nil
	case !isMutant:
		return "", fmt.Errorf("find subject %q: subjects are osc, mutant:NAME, gh-ost=PATH, spirit=PATH and pt-osc", name)
	}
	names, err := Mutants(root)
	if err != nil {
		return "", err
	}
	if !slices.Contains(names, mutant) {
		return "", fmt.Errorf("find subject %q: %s has %s", name, mutantsDir, strings.Join(names, ", "))
	}
	return name, nil
}

// findProgram returns the whole path of a program that users name by a path,
// or by a name that lies in PATH.
func findProgram(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("the path of the program is missing behind the =")
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", fmt.Errorf("it must be a program that can be executed: %w", err)
	}
	return filepath.Abs(found)
}
