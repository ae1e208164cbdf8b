package workload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"rowproof/fixtures"
	"rowproof/harness/history"
)

// Room is where random writers may write beside a scenario, so that what goes
// wrong in it still does: their rows must not change the range of keys, the
// chunks or the rows that its faults go by. Exactly one of the first three is set.
type Room struct {
	From  int64  // rows of their own, with keys from here up, a million at most
	Rows  int64  // the first so many seeded rows, which they update; none comes or goes
	Alone string // why there is none

	// NoIndex keeps indexes out of the ALTER: one that is built after the copy
	// waits for what a fault locks in the shadow, and the changes wait for it.
	NoIndex bool
}

// Open reports whether random writers may write at all.
func (r Room) Open() bool { return r.From != 0 || r.Rows != 0 }

// Validate says what is wrong with the room, nil if one may write in it to a
// table.
func (r Room) Validate(t fixtures.Table) error {
	set := 0
	for _, is := range []bool{r.From != 0, r.Rows != 0, r.Alone != ""} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return fmt.Errorf("Room is %+v, want one of From, Rows and Alone", r)
	case r.Alone != "":
		return nil
	case r.Rows != 0 && (r.Rows <= notOwned || r.Rows > t.Rows):
		return fmt.Errorf("Room.Rows is %d, want %d to the table's %d", r.Rows, notOwned+1, t.Rows)
	}
	if err := t.Writable(); err != nil {
		return fmt.Errorf("Room: %w", err)
	}
	return nil
}

// notOwned is how many of the rows in a room are no writer's: the witness, and
// the counters of all.
const notOwned = 1 + counters

// Random is what a seed draws around the table and the ALTER of a scenario.
type Random struct {
	Table fixtures.Table // with columns of random types, and the rows that the writers begin with
	Alter string         // clauses about these columns, to stand behind others
	Load  Load
}

// NewRandom draws columns of random types, an ALTER of them that any tool can
// do, and writers that write only where they may. The same seed gives the same.
func NewRandom(seed uint64, t fixtures.Table, room Room) Random {
	r := rand.New(rand.NewPCG(seed, 0))
	columns := randomColumns(r)
	drawn := Random{
		Alter: randomAlter(r, columns, !room.NoIndex),
		Load:  Load{Writers: 2 + r.IntN(4), Mix: randomMix(r), Seed: seed, First: room.From + mostSeeded},
	}
	if room.Rows > 0 {
		drawn.Load.First, drawn.Load.Mix = 0, Mix{Update: 3, Add: 1}
		drawn.Load.Writers = min(drawn.Load.Writers, int(room.Rows)-notOwned)
	}
	drawn.Load.Rate = drawn.Load.Writers * writerRate
	for n := room.Rows + 1; n <= t.Rows; n++ {
		drawn.Load.Leave = append(drawn.Load.Leave, history.Key(t.KeyAt(n)))
	}
	var written []fixtures.Column
	clauses := make([]string, len(columns))
	for i, c := range columns {
		clauses[i] = "ADD COLUMN " + c.name + " " + c.definition(c.from)
		if !c.dropped {
			written = append(written, c.column())
		}
	}
	statements := []string{"ALTER TABLE " + Quote(t.Name) + " " + strings.Join(clauses, ", ")}
	for n := int64(1); n <= t.Rows; n++ {
		statements = append(statements, Update(t, history.Key(t.KeyAt(n)), randomRow(r, columns)).SQL)
	}
	var keys []string
	for i := range notOwned + drawn.Load.Writers*ownedAtFirst {
		if room.Rows > 0 {
			break
		}
		row := randomRow(r, columns)
		for _, c := range t.Columns {
			row[c.Name] = history.Text(strconv.Itoa(100 + i))
			if c.Kind == fixtures.Text {
				row[c.Name] = history.Text(fmt.Sprintf("own %d", i))
			}
		}
		id := strconv.FormatInt(room.From+int64(i), 10)
		row[t.Key[0]] = history.Text(id)
		keys, statements = append(keys, id), append(statements, Insert(t, row).SQL)
	}
	drawn.Table = t.With(written, keys, statements...)
	drawn.Load.Table = drawn.Table
	return drawn
}

const (
	ownedAtFirst = 3  // rows of each writer
	writerRate   = 50 // operations per second of each writer
	// mostSeeded is more than the rows that a room is seeded with.
	mostSeeded = 1000
)

func randomMix(r *rand.Rand) Mix {
	weight := func() int { return 5 + r.IntN(30) }
	return Mix{Insert: 10 + weight(), Update: weight(), Delete: weight(), Move: weight(), Transaction: weight(), Add: weight()}
}

// randomColumn is a column of a random type.
type randomColumn struct {
	columnType
	name     string
	nullable bool
	dropped  bool // by the ALTER, so that nobody writes it
	pool     []*string
}

// poolSize is how many values a column has to choose from.
const poolSize = 12

func randomColumns(r *rand.Rand) []randomColumn {
	types := columnTypes()
	r.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
	columns := make([]randomColumn, 3+r.IntN(4))
	for i := range columns {
		c := randomColumn{columnType: types[i], name: fmt.Sprintf("r%d", i+1), nullable: types[i].noDefault || r.IntN(3) > 0}
		for range poolSize {
			c.pool = append(c.pool, history.Text(c.values(r)))
		}
		if c.nullable {
			c.pool = append(c.pool, nil)
		}
		columns[i] = c
	}
	columns[len(columns)-1].dropped = r.IntN(2) == 0
	return columns
}

// definition is what stands behind the column's name.
func (c randomColumn) definition(of string) string {
	if c.nullable {
		return of + " NULL"
	}
	return of + " NOT NULL DEFAULT " + literal(c.pool[0])
}

func (c randomColumn) column() fixtures.Column {
	return fixtures.Column{Name: c.name, Kind: fixtures.Choice, Values: c.pool}
}

func randomRow(r *rand.Rand, columns []randomColumn) history.Row {
	row := history.Row{}
	for _, c := range columns {
		row[c.name] = c.pool[r.IntN(len(c.pool))]
	}
	return row
}

// randomAlter adds a column or two, and may drop, widen or, if so wanted, index
// others.
func randomAlter(r *rand.Rand, columns []randomColumn, index bool) string {
	var clauses []string
	for i := range 1 + r.IntN(2) {
		place := []string{"", " FIRST", " AFTER " + columns[0].name}[r.IntN(3)]
		clauses = append(clauses, fmt.Sprintf("ADD COLUMN a%d %s%s", i+1, []string{
			"INT NOT NULL DEFAULT 7", "VARCHAR(20) NULL", "DECIMAL(8,2) NOT NULL DEFAULT 1.50", "DATETIME NULL", "VARCHAR(9) NOT NULL DEFAULT 'it''s'",
		}[r.IntN(5)], place))
	}
	indexed := !index
	for _, c := range columns {
		if c.dropped {
			clauses = append(clauses, "DROP COLUMN "+c.name)
			continue
		}
		if len(c.to) > 0 && r.IntN(3) > 0 {
			clauses = append(clauses, "MODIFY "+c.name+" "+c.definition(c.to[r.IntN(len(c.to))]))
		}
		if !indexed && c.indexable && r.IntN(2) == 0 {
			indexed = true
			clauses = append(clauses, fmt.Sprintf("ADD KEY k%s (%s)", c.name, c.name))
		}
	}
	r.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
	return strings.Join(clauses, ", ")
}
