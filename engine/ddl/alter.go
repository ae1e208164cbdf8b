package ddl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"
)

// Alter is a parsed ALTER TABLE of one table.
type Alter struct {
	Text          string   // the clauses to run on the shadow, after ALTER TABLE and its name
	Ignored       []string // one line for each clause that was left out, and why
	Renames       []Rename
	Added         []string
	Dropped       []string
	AutoIncrement *uint64 // AUTO_INCREMENT=n, if the ALTER sets it
	At            Moment  // which CURRENT_TIMESTAMP it is for a new column; the caller sets it
}

// Moment is a time as DATETIME text. The zero value is none.
type Moment struct {
	Local string // in the server's zone
	UTC   string
}

// Rename is a column that goes on under another name, or in other letters.
type Rename struct {
	From string
	To   string
}

func (a Alter) renamed(column string) bool {
	for _, r := range a.Renames {
		if strings.EqualFold(r.From, column) {
			return true
		}
	}
	return false
}

// ParseAlter reads the clauses of an ALTER, with or without ALTER TABLE and
// the table's name in front. It returns a *Refusal for a clause that can't be
// done by copying rows, and a plain error of one line for text it can't read.
func ParseAlter(table TableName, alter, serverVersion string) (Alter, error) {
	tokens, err := scan(alter)
	if err != nil {
		return Alter{}, err
	}
	if tokens, err = oneStatement(tokens); err != nil {
		return Alter{}, err
	}
	if tokens, err = stripTable(table, tokens); err != nil {
		return Alter{}, err
	}
	if len(tokens) == 0 {
		return Alter{}, errors.New("parse ALTER: there is no clause; to rebuild the table as it is, say FORCE")
	}
	var a Alter
	a.Text, a.Ignored = stripModifiers(alter, tokens)
	if a.Text == "" {
		return Alter{}, errors.New("parse ALTER: it only says how, not what; to rebuild the table as it is, say FORCE")
	}
	statement, err := parse(table, a.Text, serverVersion)
	if err != nil {
		return Alter{}, err
	}
	if err := a.read(statement); err != nil {
		return Alter{}, err
	}
	return a, nil
}

// oneStatement drops a semicolon at the end and refuses one elsewhere.
func oneStatement(tokens []token) ([]token, error) {
	for i, t := range tokens {
		if t.kind != tokenSign || t.text != ";" {
			continue
		}
		if i < len(tokens)-1 {
			return nil, &Refusal{What: "several statements", Why: "one migration runs one ALTER",
				Do: "join the clauses with commas, or run one migration after the other"}
		}
		return tokens[:i], nil
	}
	return tokens, nil
}

// stripTable drops ALTER TABLE and the table's name.
func stripTable(table TableName, tokens []token) ([]token, error) {
	if len(tokens) < 2 || !tokens[0].is("alter") || !tokens[1].is("table") {
		return tokens, nil
	}
	tokens = tokens[2:]
	if len(tokens) == 0 || tokens[0].kind > tokenQuoted {
		return nil, errors.New("parse ALTER: the name of the table is missing after ALTER TABLE")
	}
	got := TableName{Schema: table.Schema, Name: tokens[0].text}
	tokens = tokens[1:]
	if len(tokens) >= 2 && tokens[0].text == "." && tokens[1].kind <= tokenQuoted {
		got = TableName{Schema: got.Name, Name: tokens[1].text}
		tokens = tokens[2:]
	}
	if got != table {
		return nil, fmt.Errorf("parse ALTER: it names table %s, the migration is of %s", got, table)
	}
	return tokens, nil
}

func parse(table TableName, clauses, serverVersion string) (*sqlparser.AlterTable, error) {
	parser, err := sqlparser.New(sqlparser.Options{MySQLServerVersion: serverVersion})
	if err != nil {
		return nil, fmt.Errorf("parse ALTER: server version %q has no number", serverVersion)
	}
	prefix := "ALTER TABLE " + table.Quoted() + " "
	statement, err := parser.ParseStrictDDL(prefix + forParser(clauses))
	var at sqlparser.PositionedErr
	if errors.As(err, &at) {
		pos := min(max(at.Pos-len(prefix)-1, 0), len(clauses))
		where := "at the end"
		if at.Near != "" {
			where = fmt.Sprintf("at position %d near '%s'", pos, near(at.Near))
		}
		return nil, fmt.Errorf("parse ALTER: %s %s of: %s", at.Err, where, near(clauses))
	}
	if err != nil {
		return nil, fmt.Errorf("parse ALTER: %w", err)
	}
	a, ok := statement.(*sqlparser.AlterTable)
	if !ok {
		return nil, fmt.Errorf("parse ALTER: not an ALTER TABLE: %s", near(clauses))
	}
	return a, nil
}

// read collects what the clauses do to columns, and refuses what can't be
// done.
func (a *Alter) read(statement *sqlparser.AlterTable) error {
	if err := refusePartition(statement.PartitionSpec); err != nil {
		return err
	}
	for _, option := range statement.AlterOptions {
		if err := refuseOption(option); err != nil {
			return err
		}
		switch o := option.(type) {
		case *sqlparser.AddColumns:
			for _, c := range o.Columns {
				a.Added = append(a.Added, c.Name.String())
			}
		case *sqlparser.DropColumn:
			a.Dropped = append(a.Dropped, o.Name.Name.String())
		case *sqlparser.ChangeColumn:
			a.rename(o.OldColumn.Name.String(), o.NewColDefinition.Name.String())
		case *sqlparser.RenameColumn:
			a.rename(o.OldName.Name.String(), o.NewName.Name.String())
		case sqlparser.TableOptions:
			if err := a.tableOptions(o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Alter) rename(from, to string) {
	if from != to {
		a.Renames = append(a.Renames, Rename{From: from, To: to})
	}
}

func (a *Alter) tableOptions(options sqlparser.TableOptions) error {
	for _, o := range options {
		value := o.String
		if o.Value != nil {
			value = o.Value.Val
		}
		switch strings.ToUpper(o.Name) {
		case "ENGINE":
			if !strings.EqualFold(value, "innodb") {
				return &Refusal{What: "ENGINE=" + value, Why: "rows are copied under InnoDB's row locks",
					Do: "keep ENGINE=InnoDB"}
			}
		case "AUTO_INCREMENT":
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				return fmt.Errorf("parse ALTER: AUTO_INCREMENT: %w", err)
			}
			a.AutoIncrement = &n
		}
	}
	return nil
}

// stripModifiers cuts out the clauses that tell the server how to run its own
// ALTER: they have no meaning for a table that is copied. The parser sees
// only what is left.
func stripModifiers(alter string, tokens []token) (text string, ignored []string) {
	var kept []string
	for _, c := range clauses(tokens) {
		if len(c) == 0 {
			kept = append(kept, "") // for the parser to refuse
			continue
		}
		clause := alter[c[0].start:c[len(c)-1].end]
		switch why := modifier(c); {
		case why != "":
			ignored = append(ignored, clause+": "+why)
		default:
			kept = append(kept, clause)
		}
	}
	if len(ignored) == 0 {
		return alter[tokens[0].start:tokens[len(tokens)-1].end], nil
	}
	return strings.Join(kept, ", "), ignored
}

// modifier says why a clause is ignored, or nothing if it isn't one of those.
func modifier(c []token) string {
	values := []string{"default", "inplace", "copy", "instant"}
	switch {
	case len(c) == 2 && (c[0].is("with") || c[0].is("without")) && c[1].is("validation"):
		return "every row is validated when it is copied"
	case c[0].is("lock"):
		values = []string{"default", "none", "shared", "exclusive"}
	case !c[0].is("algorithm"):
		return ""
	}
	value := c[len(c)-1]
	if len(c) == 2 || len(c) == 3 && c[1].text == "=" {
		if containsFold(values, value.text) {
			return "the table is copied row by row, writers are never locked out for long"
		}
	}
	return ""
}

// Canonical is the text with comments left out and one space between its
// pieces, so that the same ALTER, typed anew, gives the same text.
func (a Alter) Canonical() string {
	tokens, err := scan(a.Text)
	if err != nil {
		return a.Text // ParseAlter has read it, so it can't be
	}
	pieces := make([]string, len(tokens))
	for i, t := range tokens {
		pieces[i] = a.Text[t.start:t.end]
	}
	return strings.Join(pieces, " ")
}
