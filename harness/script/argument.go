package script

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"rowproof/harness"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

// argument is one argument of a constructor, as a value and as Go source.
type argument struct {
	value reflect.Value
	code  string
	uses  []string // packages that the code names
}

var (
	stepType     = reflect.TypeFor[step.Step]()
	writeType    = reflect.TypeFor[workload.Write]()
	durationType = reflect.TypeFor[time.Duration]()
	roleType     = reflect.TypeFor[fault.Role]()
	sideType     = reflect.TypeFor[fault.Side]()
	sessionsType = reflect.TypeFor[fault.Sessions]()
	keyType      = reflect.TypeFor[history.Key]()
	settingsType = reflect.TypeFor[fault.Settings]()
	pathType     = reflect.TypeFor[fault.Path]()
	pickType     = reflect.TypeFor[fault.Pick]()
	eventType    = reflect.TypeFor[fault.Event]()
	actionType   = reflect.TypeFor[fault.Action]()
)

// arguments reads the attributes of a block as the parameters of its
// constructor.
func (r *reader) arguments(c constructor, content *hcl.BodyContent, s harness.Scenario) []argument {
	var all []argument
	t := reflect.TypeOf(c.fn)
	first := 0
	if c.label() != nil {
		first = 1
	}
	for i, name := range c.params {
		variadic := t.IsVariadic() && first+i == t.NumIn()-1
		a := content.Attributes[name]
		if a == nil {
			if !variadic || name != "or_waits_at" && name != "options" {
				r.problem(content.MissingItemRange.Start, "%s is missing: want %s", name, wanted(t.In(first+i)))
			}
			continue
		}
		if !variadic {
			args := r.argument(t.In(first+i), a, s)
			if len(args) > 1 {
				r.problem(a.Expr.Range().Start, "want one write, got %d", len(args))
			}
			all = append(all, args...)
			continue
		}
		for _, e := range elements(a.Expr) {
			one := &hcl.Attribute{Name: name, Expr: e, Range: e.Range(), NameRange: a.NameRange}
			all = append(all, r.argument(t.In(first+i).Elem(), one, s)...)
		}
	}
	return all
}

// wanted names what a parameter takes.
func wanted(t reflect.Type) string {
	switch t {
	case writeType:
		return "INSERT, UPDATE or DELETE in quotes"
	case stepType:
		return "a step in quotes"
	case keyType:
		return "a key in quotes"
	case durationType:
		return `a time such as "200ms" or "5s"`
	case roleType, sideType:
		return "one of: " + strings.Join(wordTexts(t), ", ")
	case sessionsType:
		return `"sending STEP", "sent STEP", "writing STATEMENT", "` + strings.Join(sessionNames(), `", "`) + `"`
	case pathType:
		return `"subject", "application", or a replica such as "replica-1"`
	case settingsType:
		return "session variables in braces: { sql_log_bin = \"OFF\" }"
	}
	switch t.Kind() {
	case reflect.Slice:
		return wanted(t.Elem()) + ", or several in [ ]"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	}
	return "a text in quotes"
}

// argument reads an attribute as a value of type t: none if it is wrong. An SQL
// text with several writes gives several.
func (r *reader) argument(t reflect.Type, a *hcl.Attribute, s harness.Scenario) []argument {
	before := len(r.problems)
	var arg argument
	switch {
	case t == writeType:
		return r.writes(a, s)
	case t == stepType:
		arg, _ = r.step(a.Expr.Range().Start, r.text(a))
	case t == durationType:
		d := r.duration(a)
		arg = argument{reflect.ValueOf(d), durationCode(d), []string{"time"}}
	case t == roleType || t == sideType:
		arg, _ = r.word(t, a, s)
	case t == sessionsType:
		arg, _ = r.sessions(a, s)
	case t == keyType:
		arg = argument{value: reflect.ValueOf(history.Key(r.text(a)))}
		arg.code = fmt.Sprintf("%q", arg.value)
	case t == pathType:
		arg, _ = r.networkPath(a, s)
	case t == settingsType:
		arg = plain(r.settings(a))
	case t.Kind() == reflect.String:
		arg = plain(r.text(a))
	case t.Kind() == reflect.Bool:
		arg = plain(r.flag(a))
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		arg = argument{value: reflect.ValueOf(r.number(a)).Convert(t)}
		arg.code = fmt.Sprint(arg.value)
		if arg.value.Int() <= 0 {
			r.problem(a.Expr.Range().Start, "%s is %s, want 1 or more", a.Name, arg.code)
		}
	default:
		panic(fmt.Sprintf("script: no way to write a %v in a file", t)) // the catalogue's test finds it
	}
	if len(r.problems) > before {
		return nil
	}
	return []argument{arg}
}

// writes reads SQL as writes of the application.
func (r *reader) writes(a *hcl.Attribute, s harness.Scenario) []argument {
	var all []argument
	for _, in := range r.sqlTexts(a) {
		pieces := r.statements(in)
		if len(pieces) == 0 {
			r.problem(in.start, "the text holds no statement")
		}
		for _, p := range pieces {
			w, err := workload.Statement(s.Table, p.text)
			if err != nil {
				r.sql(in, p.offset, err)
				continue
			}
			for _, c := range w.Changes {
				r.changes = append(r.changes, placedChange{c, in.at(p.offset)})
			}
			all = append(all, argument{
				value: reflect.ValueOf(w), code: "\nworkload.MustStatement(table, " + quote(p.text) + ")",
				uses: []string{"rowproof/harness/workload"},
			})
		}
	}
	return all
}

// plain is a value that Go writes as fmt does.
func plain(v any) argument {
	return argument{value: reflect.ValueOf(v), code: fmt.Sprintf("%#v", v)}
}

// camel writes a name as Go does: range-read is RangeRead.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(c rune) bool { return c == '-' || c == '_' || c == ' ' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func durationCode(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}, {time.Microsecond, "Microsecond"}} {
		if d%unit.of == 0 {
			return fmt.Sprintf("%d * time.%s", d/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%d * time.Nanosecond", d)
}
