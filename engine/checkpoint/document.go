package checkpoint

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"rowproof/engine/ddl"
)

// Format is the version of Document. A document of another one is refused:
// its fields may mean something else.
const Format = 1

// Document is one checkpoint.
type Document struct {
	Format    int       `json:"format"`
	Engine    string    `json:"engine"` // the build that wrote it, for people
	Saved     time.Time `json:"saved"`  // by the clock of the machine that wrote it
	Migration Migration `json:"migration"`
	Deferred  Deferred  `json:"deferred"`
	Progress  Progress  `json:"progress"`

	// Token stands beside the document in the control table. The event of
	// the write that saved it lies behind Progress.File and Pos, so a stream
	// from there that does not meet it reads another history.
	Token string `json:"-"`
}

// Migration says what is migrated. All of it must be the same for a run that
// takes up another's.
type Migration struct {
	Server   string `json:"server_uuid"`
	Table    string `json:"table"`
	Alter    string `json:"alter"`    // as ddl.Alter.Canonical writes it
	Key      string `json:"key"`      // the original's index by which rows are found
	Original string `json:"original"` // fingerprints of the definitions
	Shadow   string `json:"shadow"`   // without its plain secondary indexes
}

// Deferred are secondary indexes that are built after the copy.
type Deferred struct {
	Indexes []ddl.Index `json:"indexes,omitempty"`
	Wanted  string      `json:"wanted,omitempty"` // the shadow's definition with them
}

// Progress is what the shadow holds for certain.
type Progress struct {
	// All changes before this place in the binlog, a transaction boundary.
	File  string `json:"file"`
	Pos   uint32 `json:"pos"`
	GTIDs string `json:"gtids,omitempty"` // the executed set there; empty without GTIDs

	// All rows up to and with the key After; none if it is nil. Copied says
	// that the rows above it are there too.
	After  ddl.Tuple `json:"after,omitempty"`
	Copied bool      `json:"copied"`
	Rows   int64     `json:"rows"` // copied so far
}

// literal is what a part of a key looks like. A document comes from a table
// that others may write, and goes into statements: nothing else may.
var literal = regexp.MustCompile(`^(-?[0-9]+(\.[0-9]+)?|_[a-z0-9_]+ X'[0-9A-F]*'|(DATE|TIME|TIMESTAMP)'[-+0-9:. ]+')$`)

func parse(text string) (Document, error) {
	var version struct {
		Format int    `json:"format"`
		Engine string `json:"engine"`
	}
	if err := json.Unmarshal([]byte(text), &version); err != nil {
		return Document{}, fmt.Errorf("read checkpoint: %w", err)
	}
	if version.Format != Format {
		return Document{}, &ddl.Refusal{What: "--resume",
			Why: fmt.Sprintf("the checkpoint has format %d, written by osc %s; this osc reads format %d", version.Format, version.Engine, Format),
			Do:  "resume with that osc, or leave out --resume to start over"}
	}
	var d Document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return Document{}, fmt.Errorf("read checkpoint: %w", err)
	}
	for _, part := range d.Progress.After {
		if !literal.MatchString(part) {
			return Document{}, fmt.Errorf("read checkpoint: %q is no part of a key", part)
		}
	}
	return d, nil
}
