package script

import (
	"errors"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"vitess.io/vitess/go/vt/sqlparser"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

func (r *reader) cluster(block *hcl.Block) topology.Spec {
	a := r.content(block.Body, attributes("replicas", "semi_sync", "gtid", "performance_schema", "data_megabytes",
		"options", "source_options", "replica_options")).Attributes
	spec := topology.Spec{
		Replicas: r.number(a["replicas"]), SemiSync: r.flag(a["semi_sync"]), GTID: r.flag(a["gtid"]),
		PerformanceSchema: r.flag(a["performance_schema"]), DataMegabytes: r.number(a["data_megabytes"]),
		Options: r.texts(a["options"]), SourceOptions: r.texts(a["source_options"]), ReplicaOptions: r.texts(a["replica_options"]),
	}
	r.fields(block, spec.Validate())
	return spec
}

func (r *reader) load(block *hcl.Block) workload.Load {
	schema := attributes("writers", "readers", "rate")
	schema.Blocks = []hcl.BlockHeaderSchema{{Type: "mix"}}
	content := r.content(block.Body, schema)
	a := content.Attributes
	load := workload.Load{Writers: r.number(a["writers"]), Readers: r.number(a["readers"]), Rate: r.number(a["rate"])}
	for i, mix := range content.Blocks.OfType("mix") {
		if i > 0 {
			r.problem(mix.DefRange.Start, "a second mix block: want one")
		}
		m := r.content(mix.Body, attributes("insert", "update", "delete", "move", "transaction", "add")).Attributes
		load.Mix = workload.Mix{
			Insert: r.number(m["insert"]), Update: r.number(m["update"]), Delete: r.number(m["delete"]),
			Move: r.number(m["move"]), Transaction: r.number(m["transaction"]), Add: r.number(m["add"]),
		}
	}
	return load
}

// checkLoad needs the table as well as the load.
func (r *reader) checkLoad(top *hcl.BodyContent, s harness.Scenario) {
	for _, block := range top.Blocks.OfType("load") {
		load := s.Load
		load.Table = s.Table
		r.fields(block, load.Validate())
	}
}

// goField is how Go code names a field: Spec.Replicas, Load.Writers.
var goField = regexp.MustCompile(`\b(?:Spec|Load)\.([A-Za-z]+)`)

// fields names the problem that a Validate found, in a file's words.
func (r *reader) fields(block *hcl.Block, err error) {
	if err == nil {
		return
	}
	for line := range strings.Lines(err.Error()) {
		text := goField.ReplaceAllStringFunc(strings.TrimSpace(line), func(field string) string {
			return snake(field[strings.IndexByte(field, '.')+1:])
		})
		r.problem(block.DefRange.Start, "%s", text)
	}
}

// tableText is the table as the file has it.
type tableText struct {
	create string
	seeds  []string
}

func (r *reader) tableOf(block *hcl.Block) (fixtures.Table, tableText) {
	schema := attributes("seed", "rows")
	schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: "create", Required: true})
	a := r.content(block.Body, schema).Attributes
	create := a["create"]
	if create == nil {
		return fixtures.Table{}, tableText{}
	}
	all := r.sqlTexts(create)
	if len(all) != 1 {
		r.problem(create.Expr.Range().Start, "want one CREATE TABLE")
		return fixtures.Table{}, tableText{}
	}
	text := tableText{create: trimmed(all[0].text)}
	t, err := fixtures.Create(text.create)
	if err != nil {
		r.sql(all[0], leading(all[0].text), err)
		return fixtures.Table{}, text
	}
	if a["seed"] != nil {
		t, text.seeds = r.seed(t, a["seed"])
	}
	rows := r.number(a["rows"])
	switch {
	case t.IsNumbered() && rows <= 0:
		r.problem(block.DefRange.Start, "seed makes rows by number: rows must say how many, at least 1")
	case !t.IsNumbered() && a["rows"] != nil:
		r.problem(a["rows"].Range.Start, "rows is for a seed that makes rows from {{first}} to {{last}}; this one lists its rows")
	case t.IsNumbered():
		t = t.Numbered(int64(rows))
	}
	return t, text
}

func (r *reader) seed(t fixtures.Table, a *hcl.Attribute) (fixtures.Table, []string) {
	var seeds []string
	for _, in := range r.sqlTexts(a) {
		for _, piece := range r.statements(in) {
			seeded, err := t.Seeded(piece.text)
			if err != nil {
				r.sql(in, piece.offset, err)
				continue
			}
			t, seeds = seeded, append(seeds, piece.text)
		}
	}
	return t, seeds
}

// piece is one statement of several.
type piece struct {
	text   string
	offset int
}

// statements splits a text at its semicolons.
func (r *reader) statements(in sqlText) []piece {
	if strings.Contains(in.text, "{{") { // not yet SQL, and one statement
		return []piece{{trimmed(in.text), leading(in.text)}}
	}
	parser, err := sqlparser.New(sqlparser.Options{})
	if err != nil {
		r.sql(in, 0, err)
		return nil
	}
	split, err := parser.SplitStatementToPieces(in.text)
	if err != nil {
		r.sql(in, 0, err)
		return nil
	}
	var pieces []piece
	from := 0
	for _, text := range split {
		offset := from + strings.Index(in.text[from:], text)
		from = offset + len(text)
		if trimmed(text) != "" {
			pieces = append(pieces, piece{trimmed(text), offset + leading(text)})
		}
	}
	return pieces
}

// alter reads what stands behind ALTER TABLE t. A migration that is expected
// to be refused may be one that can't be read.
func (r *reader) alter(a *hcl.Attribute, s harness.Scenario) string {
	if a == nil || s.Table.Name == "" {
		return ""
	}
	all := r.sqlTexts(a)
	if len(all) != 1 {
		r.problem(a.Expr.Range().Start, "want one text: what stands behind ALTER TABLE %s", s.Table.Name)
		return ""
	}
	text := trimmed(all[0].text)
	prefix := "ALTER TABLE " + workload.Quote(s.Table.Name) + " "
	_, err := fixtures.ParseStatement(prefix + text)
	var syntax sqlparser.PositionedErr
	if errors.As(err, &syntax) {
		syntax.Pos -= len(prefix)
		err = syntax
	}
	if err != nil && s.Expect != harness.Refused {
		r.sql(all[0], leading(all[0].text), err)
	}
	return text
}

func trimmed(sql string) string { return strings.TrimRight(strings.TrimSpace(sql), "; \t\r\n") }

func leading(sql string) int { return len(sql) - len(strings.TrimLeft(sql, " \t\r\n")) }
