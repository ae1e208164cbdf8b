package observe

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"rowproof/harness/history"
)

// binlogKey returns the key of a row image, as Rows would spell it.
func (d Definition) binlogKey(image []any) (history.Key, error) {
	if len(image) != len(d.Columns) {
		return "", fmt.Errorf("the row has %d columns, the table %d", len(image), len(d.Columns))
	}
	parts := make([]string, len(d.Key))
	for i, name := range d.Key {
		at := d.position(name)
		v := image[at]
		if v == nil {
			return "", fmt.Errorf("key column %s is not in the row", name)
		}
		parts[i] = d.Columns[at].binlogText(v)
	}
	return history.Key(strings.Join(parts, ",")), nil
}

// binlogText spells a value of a row image. The binlog has labels as numbers,
// and cuts the trailing zeros of a BINARY.
func (c Column) binlogText(v any) string {
	switch x := v.(type) {
	case int64:
		switch c.Type {
		case "enum":
			if labels := c.labels(); x > 0 && int(x) <= len(labels) {
				return labels[x-1]
			}
			return ""
		case "set":
			return c.members(uint64(x))
		case "bit":
			return strconv.FormatUint(uint64(x), 10)
		}
	case float32:
		return strconv.FormatFloat(float64(x), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case []byte:
		return Text(string(x))
	case string:
		if c.Type == "binary" {
			if n := c.length(); len(x) < n {
				x += strings.Repeat("\x00", n-len(x))
			}
		}
		return Text(x)
	}
	return fmt.Sprint(v)
}

var label = regexp.MustCompile(`'((?:[^']|'')*)'`)

// labels returns the words of an ENUM or SET in order.
func (c Column) labels() []string {
	var all []string
	for _, m := range label.FindAllStringSubmatch(c.FullType, -1) {
		all = append(all, strings.ReplaceAll(m[1], "''", "'"))
	}
	return all
}

func (c Column) members(bits uint64) string {
	var in []string
	for i, l := range c.labels() {
		if bits&(1<<i) != 0 {
			in = append(in, l)
		}
	}
	return strings.Join(in, ",")
}

// length returns n of binary(n).
func (c Column) length() int {
	_, after, _ := strings.Cut(c.FullType, "(")
	n, err := strconv.Atoi(strings.TrimSuffix(after, ")"))
	if err != nil {
		return 0
	}
	return n
}
