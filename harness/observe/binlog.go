package observe

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strconv"
	"time"

	"database/sql"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"
	driver "github.com/go-sql-driver/mysql"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

// Position is a place in the source's binlog.
type Position struct {
	File string
	Pos  uint64
}

// BinlogSource says what to read from a server's binlog.
type BinlogSource struct {
	Server *driver.Config // where and as whom to log in; REPLICATION SLAVE and REPLICATION CLIENT
	From   Position       // a transaction boundary; the oldest that is left, if its file was purged
	Schema string
	Table  string     // the migrated table
	Others []string   // other tables of interest: shadow, old
	Before Definition // of Table before the swap
	After  Definition // of Table after the swap, and of the Others; without columns: like Before
}

// BinlogEnd returns the present end of a server's binlog.
func BinlogEnd(ctx context.Context, db *sql.DB) (Position, error) {
	conn, done, err := session(ctx, db)
	if err != nil {
		return Position{}, err
	}
	defer done()
	var p Position
	each := func(row []*string) (err error) {
		p.File = *row[0]
		p.Pos, err = strconv.ParseUint(*row[1], 10, 64)
		return err
	}
	err = query(ctx, conn, "SHOW BINARY LOG STATUS", each)
	var refused *driver.MySQLError
	if errors.As(err, &refused) && refused.Number == 1064 { // before 8.4
		err = query(ctx, conn, "SHOW MASTER STATUS", each)
	}
	if err == nil && p.File == "" {
		err = errors.New("the binlog is off")
	}
	if err != nil {
		return p, fmt.Errorf("read end of binlog: %w", err)
	}
	return p, nil
}

// Binlog reads the row events of the tables, and the DDL that names them, from
// a position to the present end of the binlog.
func Binlog(ctx context.Context, db *sql.DB, b BinlogSource) ([]history.BinlogRow, error) {
	end, err := BinlogEnd(ctx, db)
	if err != nil {
		return nil, err
	}
	if b.From == end {
		return nil, nil
	}
	if b.From, err = stillThere(ctx, db, b.From); err != nil {
		return nil, err
	}
	config, err := b.syncer()
	if err != nil {
		return nil, err
	}
	syncer := replication.NewBinlogSyncer(config)
	defer syncer.Close()
	stream, err := syncer.StartSync(mysql.Position{Name: b.From.File, Pos: uint32(b.From.Pos)})
	if err != nil {
		return nil, fmt.Errorf("read binlog from %s:%d: %w", b.From.File, b.From.Pos, err)
	}
	r := newBinlogReader(b)
	for r.file != end.File || r.pos < end.Pos {
		event, err := stream.GetEvent(ctx)
		if err != nil {
			return nil, fmt.Errorf("read binlog after %s:%d: %w", r.file, r.pos, err)
		}
		if err := r.event(event); err != nil {
			return nil, fmt.Errorf("read binlog at %s:%d: %w", r.file, event.Header.LogPos, err)
		}
	}
	return r.rows, nil
}

// stillThere returns the position itself, or the beginning of the oldest
// binlog file if its own has been purged.
func stillThere(ctx context.Context, db *sql.DB, p Position) (Position, error) {
	conn, done, err := session(ctx, db)
	if err != nil {
		return p, err
	}
	defer done()
	var files []string
	err = query(ctx, conn, "SHOW BINARY LOGS", func(row []*string) error {
		files = append(files, *row[0])
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("list binlog files: %w", err)
	}
	if len(files) == 0 || slices.Contains(files, p.File) {
		return p, nil
	}
	return Position{File: files[0], Pos: 4}, nil
}

func (b BinlogSource) syncer() (replication.BinlogSyncerConfig, error) {
	host, portText, err := net.SplitHostPort(b.Server.Addr)
	if err != nil {
		return replication.BinlogSyncerConfig{}, fmt.Errorf("read binlog: %w", err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return replication.BinlogSyncerConfig{}, fmt.Errorf("read binlog: port %q: %w", portText, err)
	}
	// A server id that another replica has would end that one's stream. The
	// id decides nothing of the run, so it need not come from its seed.
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return replication.BinlogSyncerConfig{}, fmt.Errorf("read binlog: %w", err)
	}
	return replication.BinlogSyncerConfig{
		ServerID: binary.LittleEndian.Uint32(id[:]) | 1<<31,
		Flavor:   mysql.MySQLFlavor,
		Host:     host, Port: uint16(port),
		User: b.Server.User, Password: b.Server.Passwd,
		TimestampStringLocation: time.UTC,
		DisableRetrySync:        true, // what ends early must say so
		Logger:                  slog.New(slog.DiscardHandler),
	}, nil
}

// binlogReader turns events into rows. The rows of a transaction become known
// when it ends.
type binlogReader struct {
	source BinlogSource
	keys   map[string]Definition // table -> definition, at this point of the stream

	file  string
	pos   uint64
	start uint64 // of the transaction
	gtid  string
	at    time.Time
	open  []history.BinlogRow
	rows  []history.BinlogRow
}

func newBinlogReader(b BinlogSource) *binlogReader {
	if len(b.After.Columns) == 0 {
		b.After = b.Before
	}
	r := &binlogReader{source: b, file: b.From.File, pos: b.From.Pos, start: b.From.Pos, keys: map[string]Definition{}}
	for _, name := range b.Others {
		r.keys[name] = b.After
	}
	r.keys[b.Table] = b.Before
	return r
}

func (r *binlogReader) event(e *replication.BinlogEvent) error {
	if rotate, ok := e.Event.(*replication.RotateEvent); ok {
		r.file, r.pos = string(rotate.NextLogName), rotate.Position
		return nil
	}
	// Events made up by the source, such as the format of a file that is
	// joined in the middle, have no position.
	if e.Header.LogPos == 0 {
		return nil
	}
	end := uint64(e.Header.LogPos)
	switch ev := e.Event.(type) {
	case *replication.GTIDEvent:
		return r.begin(e.Header, ev)
	case *replication.TransactionPayloadEvent:
		for _, inner := range ev.Events {
			if err := r.part(inner, end); err != nil {
				return err
			}
		}
	default:
		if err := r.part(e, end); err != nil {
			return err
		}
	}
	r.pos = end
	return nil
}

func (r *binlogReader) begin(h *replication.EventHeader, ev *replication.GTIDEvent) error {
	r.pos = uint64(h.LogPos)
	r.start = r.pos - uint64(h.EventSize)
	r.open, r.gtid = nil, ""
	r.at = ev.ImmediateCommitTime()
	if r.at.IsZero() || r.at.Unix() <= 0 {
		r.at = time.Unix(int64(h.Timestamp), 0)
	}
	if h.EventType == replication.ANONYMOUS_GTID_EVENT {
		return nil
	}
	next, err := ev.GTIDNext()
	if err != nil {
		return fmt.Errorf("read GTID: %w", err)
	}
	r.gtid = next.String()
	return nil
}

// part reads an event inside a transaction; end is the position after it.
func (r *binlogReader) part(e *replication.BinlogEvent, end uint64) error {
	switch ev := e.Event.(type) {
	case *replication.RowsEvent:
		return r.rowsEvent(e.Header.EventType, ev)
	case *replication.XIDEvent:
		r.commit(end)
	case *replication.QueryEvent:
		r.statement(ev, end)
	default:
		if e.Header.EventType == replication.XA_PREPARE_LOG_EVENT {
			r.commit(end)
		}
	}
	return nil
}

func (r *binlogReader) commit(end uint64) {
	for i := range r.open {
		r.open[i].End = end
	}
	r.rows = append(r.rows, r.open...)
	r.open = nil
}

var (
	notDDL = regexp.MustCompile(`(?i)^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|XA)\b`)
	ends   = regexp.MustCompile(`(?i)^\s*(COMMIT|ROLLBACK)\s*$`)
)

func (r *binlogReader) statement(ev *replication.QueryEvent, end uint64) {
	sql := string(ev.Query)
	if ends.MatchString(sql) {
		r.commit(end)
		return
	}
	if notDDL.MatchString(sql) {
		return
	}
	names := append([]string{r.source.Table}, r.source.Others...)
	i := slices.IndexFunc(names, func(n string) bool {
		return regexp.MustCompile("(?:^|[^0-9A-Za-z_$])" + regexp.QuoteMeta(n) + "(?:$|[^0-9A-Za-z_$])").MatchString(sql)
	})
	if i < 0 {
		return
	}
	for _, n := range check.Renames(sql) {
		if def, ok := r.keys[n.From]; ok {
			delete(r.keys, n.From)
			r.keys[n.To] = def
		}
	}
	r.open = append(r.open, r.row("ddl", names[i]))
	r.open[len(r.open)-1].SQL = sql
	r.commit(end)
}

func (r *binlogReader) row(kind, table string) history.BinlogRow {
	return history.BinlogRow{Kind: kind, Table: table, GTID: r.gtid, File: r.file, Start: r.start, Commit: r.at}
}

func (r *binlogReader) rowsEvent(t replication.EventType, ev *replication.RowsEvent) error {
	table := string(ev.Table.Table)
	if string(ev.Table.Schema) != r.source.Schema || table != r.source.Table && !slices.Contains(r.source.Others, table) {
		return nil
	}
	def, ok := r.keys[table]
	if !ok {
		def = r.source.After
	}
	kind, step := "insert", 1
	switch t {
	case replication.UPDATE_ROWS_EVENTv1, replication.UPDATE_ROWS_EVENTv2, replication.PARTIAL_UPDATE_ROWS_EVENT:
		kind, step = "update", 2
	case replication.DELETE_ROWS_EVENTv1, replication.DELETE_ROWS_EVENTv2:
		kind = "delete"
	}
	for i := 0; i+step <= len(ev.Rows); i += step {
		row := r.row(kind, table)
		var err error
		if row.Key, err = def.binlogKey(ev.Rows[i]); err != nil {
			return fmt.Errorf("read %s of %s: %w", kind, table, err)
		}
		if step == 2 {
			to, err := def.binlogKey(ev.Rows[i+1])
			if err == nil && to != row.Key { // a partial image need not hold the key
				row.NewKey = to
			}
		}
		r.open = append(r.open, row)
	}
	return nil
}
