package mysql

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Option is one line of an option file.
type Option struct {
	Group string
	Name  string // with - between its words
	Value string
	Set   bool   // the line has a value, which may be empty
	Where string // FILE:LINE
}

// maxIncludes bounds how deep option files include others.
const maxIncludes = 10

// ReadOptionFile reads the options of some groups from a MySQL option file,
// in the order in which they stand there. It follows the server's own rules
// for quotes, escapes, comments and includes, which no general reader of INI
// files knows: a password with a # in it must come out as mysql reads it.
func ReadOptionFile(path string, groups ...string) ([]Option, error) {
	return readOptionFile(path, groups, maxIncludes)
}

func readOptionFile(path string, groups []string, depth int) ([]Option, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read option file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read option file: %w", err)
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0:
		return nil, fmt.Errorf("read option file %s: it is no file", path)
	case info.Mode().IsRegular() && info.Mode()&0o002 != 0:
		return nil, fmt.Errorf("read option file %s: everybody may write it, so it can't be trusted", path)
	}
	var options []Option
	group := ""
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		where := fmt.Sprintf("%s:%d", path, n)
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '!':
			included, err := include(filepath.Dir(path), line, groups, depth)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", where, err)
			}
			options = append(options, included...)
		case line[0] == '[':
			name, _, closed := strings.Cut(line[1:], "]")
			if !closed {
				return nil, fmt.Errorf("%s: the group has no ]", where)
			}
			group = strings.TrimSpace(name)
		case group == "":
			return nil, fmt.Errorf("%s: an option stands before the first [group]", where)
		case slices.Contains(groups, group):
			option := parseOption(line)
			option.Group, option.Where = group, where
			options = append(options, option)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read option file %s: %w", path, err)
	}
	return options, nil
}

// include follows !include FILE and !includedir FOLDER.
func include(dir, line string, groups []string, depth int) ([]Option, error) {
	word, target, _ := strings.Cut(line, " ")
	target = strings.TrimSpace(target)
	if target == "" || word != "!include" && word != "!includedir" {
		return nil, errors.New("want !include FILE or !includedir FOLDER")
	}
	if depth == 0 {
		return nil, errors.New("files include one another too deeply")
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	files := []string{target}
	if word == "!includedir" {
		entries, err := os.ReadDir(target)
		if err != nil {
			return nil, err
		}
		files = nil
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".cnf") {
				files = append(files, filepath.Join(target, e.Name()))
			}
		}
	}
	var options []Option
	for _, f := range files {
		more, err := readOptionFile(f, groups, depth-1)
		if err != nil {
			return nil, err
		}
		options = append(options, more...)
	}
	return options, nil
}

// parseOption reads NAME or NAME = VALUE, and what may follow: a comment.
func parseOption(line string) Option {
	name, value, set := strings.Cut(withoutComment(line), "=")
	name = strings.ReplaceAll(strings.TrimSpace(name), "_", "-")
	value = strings.TrimSpace(value)
	if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	return Option{Name: name, Value: unescape(value), Set: set}
}

// withoutComment cuts a line at the first # outside of quotes.
func withoutComment(line string) string {
	var quote byte
	escaped := false
	for i := range len(line) {
		c := line[i]
		switch {
		case (c == '\'' || c == '"') && !escaped && quote == 0:
			quote = c
		case c == quote && !escaped:
			quote = 0
		case c == '#' && quote == 0:
			return line[:i]
		}
		escaped = quote != 0 && c == '\\' && !escaped
	}
	return line
}

// unescape turns the escapes that an option file knows into what they stand
// for. A \ before anything else stands for itself.
func unescape(value string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\b`, "\b", `\s`, " ", `\"`, `"`, `\'`, "'", `\\`, `\`).Replace(value)
}
