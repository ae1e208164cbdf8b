package ddl_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/engine/ddl"
)

var update = flag.Bool("update", false, "write the golden files anew")

// column makes a column of a type, as information_schema would show it.
// Options: null, default, auto, virtual, stored, or a collation.
func column(name, columnType string, options ...string) ddl.Column {
	c := ddl.Column{Name: name, ColumnType: columnType,
		DataType: strings.FieldsFunc(columnType, func(r rune) bool { return r == '(' || r == ' ' })[0]}
	if textual(c.DataType) {
		c.Charset, c.Collation = "utf8mb4", "utf8mb4_0900_ai_ci"
	}
	for _, o := range options {
		switch o {
		case "null":
			c.Nullable = true
		case "default":
			value := "0"
			c.Default = &value
		case "auto":
			c.Extra = "auto_increment"
		case "uuid":
			c.Extra = "DEFAULT_GENERATED"
		case "virtual":
			c.Extra, c.Expression = "VIRTUAL GENERATED", "(`a` + 1)"
		case "stored":
			c.Extra, c.Expression = "STORED GENERATED INVISIBLE", "(`a` + 1)"
		default:
			c.Collation = o
			c.Charset, _, _ = strings.Cut(o, "_")
		}
	}
	return c
}

func textual(dataType string) bool {
	switch dataType {
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		return true
	}
	return false
}

// table numbers the columns. Keys read like "PRIMARY(a,b desc)", "uniq u(c)",
// "key k(d(10))".
func table(name string, columns []ddl.Column, keys ...string) ddl.Table {
	t := ddl.Table{Name: ddl.TableName{Schema: "shop", Name: name}}
	for i, c := range columns {
		c.Position = i + 1
		t.Columns = append(t.Columns, c)
	}
	for _, text := range keys {
		head, list, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		k := ddl.Key{Name: head, Type: "BTREE"}
		switch {
		case head == "PRIMARY":
			k.Unique, k.Primary = true, true
		case strings.HasPrefix(head, "uniq "):
			k.Name, k.Unique = strings.TrimPrefix(head, "uniq "), true
		default:
			k.Name = strings.TrimPrefix(head, "key ")
		}
		for part := range strings.SplitSeq(list, ",") {
			k.Parts = append(k.Parts, keyPart(part))
		}
		t.Keys = append(t.Keys, k)
	}
	return t
}

func keyPart(text string) ddl.KeyPart {
	if expr, ok := strings.CutPrefix(text, "expr "); ok {
		return ddl.KeyPart{Expr: expr}
	}
	if name, ok := strings.CutSuffix(text, " desc"); ok {
		return ddl.KeyPart{Column: name, Desc: true}
	}
	if name, _, ok := strings.Cut(text, ":"); ok {
		return ddl.KeyPart{Column: name, Prefix: 5}
	}
	return ddl.KeyPart{Column: text}
}

func columns(c ...ddl.Column) []ddl.Column { return c }

func same(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused checks that err is a refusal in one line that speaks of what.
func refused(t *testing.T, err error, what string) {
	t.Helper()
	var r *ddl.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("got error %v, want a refusal", err)
	}
	if r.What == "" || r.Why == "" || r.Do == "" {
		t.Errorf("refusal lacks a part: %+v", r)
	}
	fails(t, err, what)
}

func fails(t *testing.T, err error, what string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", what)
	}
	if !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %q, want one line with %q", err, what)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		noError(t, os.MkdirAll("testdata", 0o755))
		noError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	noError(t, err)
	same(t, got, string(want))
}
