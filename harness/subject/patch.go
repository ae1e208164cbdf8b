package subject

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// patch is a mutant's unified diff.
type patch struct {
	mutant string
	bug    string // the prose above the first file
	files  []*gitdiff.File
}

// readPatch reads the patch of a mutant of the module at root.
func readPatch(root, mutant string) (*patch, error) {
	data, err := os.ReadFile(filepath.Join(root, mutantsDir, mutant+".patch"))
	if errors.Is(err, fs.ErrNotExist) {
		names, listErr := Mutants(root)
		return nil, errors.Join(fmt.Errorf("read mutant %s: no such patch; %s has %s",
			mutant, mutantsDir, strings.Join(names, ", ")), listErr)
	}
	if err != nil {
		return nil, fmt.Errorf("read mutant %s: %w", mutant, err)
	}
	files, head, err := gitdiff.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read mutant %s: parse patch: %w", mutant, err)
	}
	p := &patch{mutant: mutant, bug: strings.TrimSpace(head), files: files}
	if len(files) == 0 {
		return nil, fmt.Errorf("read mutant %s: the patch changes no file", mutant)
	}
	for _, f := range files {
		f.OldName, f.NewName = stripPrefix(f.OldName), stripPrefix(f.NewName)
	}
	if p.bug == "" {
		return nil, fmt.Errorf("read mutant %s: the patch does not begin with a comment that tells the bug", mutant)
	}
	return p, nil
}

// stripPrefix takes off what diff tools put before a path. The library does so
// only for a file with a "diff --git" line.
func stripPrefix(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
}

// apply returns the patched content of every file that the patch changes, by
// its path below root. A nil content means that the file is deleted.
func (p *patch) apply(root string) (map[string][]byte, error) {
	out := make(map[string][]byte, len(p.files))
	for _, f := range p.files {
		name := f.NewName
		if f.IsDelete {
			name = f.OldName
		}
		content, err := applyFile(root, f)
		if err != nil {
			return nil, fmt.Errorf("apply mutant %s to %s: %w", p.mutant, name, err)
		}
		out[name] = content
	}
	return out, nil
}

func applyFile(root string, f *gitdiff.File) ([]byte, error) {
	if f.IsRename || f.IsCopy || f.IsBinary {
		return nil, errors.New("a mutant may only change, add or delete text files")
	}
	var src []byte
	if !f.IsNew {
		var err error
		if src, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(f.OldName))); err != nil {
			return nil, err
		}
	}
	if err := relocate(f.TextFragments, src); err != nil {
		return nil, err
	}
	var dst bytes.Buffer
	if err := gitdiff.Apply(&dst, bytes.NewReader(src), f); err != nil {
		return nil, err
	}
	if f.IsDelete {
		return nil, nil
	}
	return dst.Bytes(), nil
}

// relocate moves every hunk to where its old lines stand now, so that a patch
// survives changes elsewhere in the file. Of several such places it takes the
// one nearest to where the hunk expects it. The library itself applies hunks
// only exactly where they say.
func relocate(hunks []*gitdiff.TextFragment, src []byte) error {
	lines := slices.Collect(strings.Lines(string(src)))
	free, shift := 0, 0 // the first line that no hunk before has taken; how far the last one moved
	for i, h := range hunks {
		var old []string
		for _, l := range h.Lines {
			if l.Old() {
				old = append(old, l.Line)
			}
		}
		if len(old) == 0 { // it only adds: there is nothing to find it by
			continue
		}
		expected := int(h.OldPosition) - 1 + shift
		at, ok := nearest(lines, old, free, expected)
		if !ok {
			return fmt.Errorf("hunk %d of %d no longer applies (%s): its lines are not in the file",
				i+1, len(hunks), strings.TrimSpace(h.Header()))
		}
		shift = at - (int(h.OldPosition) - 1)
		h.OldPosition = int64(at + 1)
		free = at + len(old)
	}
	return nil
}

// nearest returns where old stands in lines, from line free on and as near to
// expected as there is.
func nearest(lines, old []string, free, expected int) (int, bool) {
	best, found := 0, false
	for at := free; at+len(old) <= len(lines); at++ {
		if !slices.Equal(lines[at:at+len(old)], old) {
			continue
		}
		if !found || abs(at-expected) < abs(best-expected) {
			best, found = at, true
		}
	}
	return best, found
}

func abs(n int) int { return max(n, -n) }
