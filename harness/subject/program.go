package subject

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// program is a tool of others whose program the user has.
type program struct {
	build *Build
	tool  string
	path  string
}

// Name implements Subject.
func (p program) Name() string { return p.tool }

// PerformanceSchema implements Foreign. These tools look up metadata locks.
func (p program) PerformanceSchema() bool { return true }

// Version implements Foreign. A build without a version is told by its commit,
// or else by a digest of the program.
func (p program) Version(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, p.path, "--version").CombinedOutput()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil {
		if v := readVersion(p.tool, string(out)); v != "" {
			return v, nil
		}
	}
	if info, err := buildinfo.ReadFile(p.path); err == nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) > commitDigits {
				return s.Value[:commitDigits], nil
			}
		}
		if v := info.Main.Version; v != "" && v != "(devel)" {
			return v, nil
		}
	}
	return p.digest()
}

// commitDigits is how much of a commit's name stands for it.
const commitDigits = 12

var (
	versionWord = regexp.MustCompile(`^v?[0-9][0-9A-Za-z.+~_-]*$`)
	commitWord  = regexp.MustCompile(`commit:?\s+([0-9a-f]{12,})`)
)

// readVersion finds a version in what a tool answers to --version; "" if there
// is none.
func readVersion(tool, out string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	words := strings.Fields(strings.TrimPrefix(first, tool))
	if len(words) > 0 && versionWord.MatchString(words[0]) {
		return words[0]
	}
	if m := commitWord.FindStringSubmatch(out); m != nil {
		return m[1][:commitDigits]
	}
	return ""
}

func (p program) digest() (string, error) {
	f, err := os.Open(p.path)
	if err != nil {
		return "", fmt.Errorf("find version of %s: %w", p.tool, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("find version of %s: %w", p.tool, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))[:commitDigits], nil
}

// phrase is a statement of a tool as a pattern for how its text begins. Case
// makes no difference, a space stands for any white space, and "." for line
// breaks too.
func phrase(s step.Step, pattern string) wire.Phrase {
	pattern = strings.ReplaceAll(pattern, " ", `\s+`)
	return wire.Phrase{Step: s, Pattern: regexp.MustCompile(`(?is)^\s*(?:` + pattern + `)`)}
}

// optionFile writes the account for a tool that would else want the password
// among its arguments.
func optionFile(dir string, t Target) (string, error) {
	path := filepath.Join(dir, "client.cnf")
	text := fmt.Sprintf("[client]\nuser=%s\npassword=%s\n", t.User, t.Password)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write option file: %w", err)
	}
	return path, nil
}

// foreignOutcome tells what an exit status of a tool of others means: whether
// it had begun, and what it left, only the server can tell.
func foreignOutcome(status int, message string) string {
	switch {
	case status == 0:
		return Completed
	case isTrace(message):
		return NeedsPerson
	}
	return Aborted
}
