package mysql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
)

// Config says how to reach a server. Socket, if set, goes before Host.
type Config struct {
	Host     string
	Port     uint16
	Socket   string
	User     string
	Password string
	Schema   string        // the session's default schema
	Timeout  time.Duration // to connect; 0 means 10 seconds
	TLS      TLS
}

// Address is the server's address as a person writes it.
func (c Config) Address() string {
	if c.Socket != "" {
		return c.Socket
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}

// Server is a pool of connections to one server, with the session settings
// that the engine relies on.
type Server struct {
	Config
	DB      *sql.DB // one statement at a time
	DDL     *sql.DB // definitions, under the server's own sql_mode
	Batch   *sql.DB // several statements in one round trip; its sessions wait a second for a row lock
	Version Version
	UUID    string // @@server_uuid when the pool was opened
	Mode    string // the sql_mode that copying sessions use

	encrypted bool   // whether the server's connections are
	dates     string // modes of the server's own that Mode leaves out: see Follow
}

// Open connects and reads the server's version, so that an unreachable
// server, a wrong password and a missing schema are told here, each in one
// line.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	bare, err := open(cfg, nil, false)
	if err != nil {
		return nil, err
	}
	defer bare.Close()
	s := &Server{Config: cfg}
	var version, mode string
	err = bare.QueryRowContext(ctx, "SELECT @@version, @@server_uuid, @@global.sql_mode").Scan(&version, &s.UUID, &mode)
	if err == nil {
		var name, cipher string
		err = bare.QueryRowContext(ctx, "SHOW SESSION STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher)
		s.encrypted = cipher != ""
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s as %s: %w", cfg.Address(), cfg.User, plain(err))
	}
	if s.Version, err = ParseVersion(version); err != nil {
		return nil, err
	}
	s.Mode = CopyMode(mode)
	for m := range strings.SplitSeq(mode, ",") {
		if m == "NO_ZERO_DATE" || m == "NO_ZERO_IN_DATE" {
			s.dates += "," + m
		}
	}
	if s.DDL, err = open(cfg, map[string]string{"lock_wait_timeout": "60"}, false); err != nil {
		return nil, err
	}
	return s, s.openCopying("'+00:00'")
}

// Encryption is the TLS configuration of a connection besides the pools', nil
// for none. Where the mode leaves it to the server it follows what the pools
// got.
func (s *Server) Encryption() (*tls.Config, error) {
	config, _, err := s.Config.encryption()
	if err != nil || !s.encrypted {
		return nil, err
	}
	return config, nil
}

// Follow makes the copying sessions work as the server's ALTER does in its
// default session. zone is for a migration that turns a TIMESTAMP into another
// type or back; no other may depend on a zone in which some local times come
// twice. dates is for one that makes dates of other values: where the server
// forbids zero dates, none may come of it. No copying session may be in use.
func (s *Server) Follow(zone, dates bool) error {
	if !zone && !dates {
		return nil
	}
	name := "'+00:00'"
	if zone {
		name = "@@global.time_zone"
	}
	if dates {
		s.Mode += s.dates
	}
	return errors.Join(s.DB.Close(), s.Batch.Close(), s.openCopying(name))
}

// openCopying opens the pools whose sessions copy rows.
func (s *Server) openCopying(zone string) (err error) {
	session := map[string]string{
		"sql_mode":                 quoteString(s.Mode),
		"time_zone":                zone,
		"transaction_isolation":    "'READ-COMMITTED'",
		"foreign_key_checks":       "0",
		"innodb_lock_wait_timeout": "5",
		"lock_wait_timeout":        "60",
	}
	if s.DB, err = open(s.Config, session, false); err != nil {
		return err
	}
	session["innodb_lock_wait_timeout"] = "1"
	s.Batch, err = open(s.Config, session, true)
	return err
}

// Close closes every connection.
func (s *Server) Close() error { return errors.Join(s.DB.Close(), s.DDL.Close(), s.Batch.Close()) }

// Transaction runs the statements as one transaction of its own, in one
// round trip, under the name of a step. When it returns an error, nothing of
// it stands, unless the connection was lost (see ConnectionLost).
func (s *Server) Transaction(ctx context.Context, step string, statements ...string) error {
	conn, err := s.Batch.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, Step(step, "START TRANSACTION; "+strings.Join(statements, "; ")+"; COMMIT"))
	if err != nil && !ConnectionLost(err) {
		_, undo := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		if undo != nil {
			// The session may be inside the transaction still: end it.
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}
	return err
}

// CopyMode derives the sql_mode of the copying sessions from the server's
// own. A value that does not fit must be an error, id 0 must stay 0, and a
// zero date that the original already holds must pass as it is. (The server's
// own ALTER refuses a table that holds one where NO_ZERO_DATE is set.)
func CopyMode(global string) string {
	drop := map[string]bool{
		"": true, "NO_ZERO_DATE": true, "NO_ZERO_IN_DATE": true, "TRADITIONAL": true,
		"ANSI": true, "ANSI_QUOTES": true, "NO_BACKSLASH_ESCAPES": true, "PIPES_AS_CONCAT": true,
		"PAD_CHAR_TO_FULL_LENGTH": true,
	}
	modes := []string{"STRICT_ALL_TABLES", "STRICT_TRANS_TABLES", "NO_AUTO_VALUE_ON_ZERO", "ERROR_FOR_DIVISION_BY_ZERO"}
	have := map[string]bool{}
	for _, m := range modes {
		have[m] = true
	}
	for m := range strings.SplitSeq(global, ",") {
		if !drop[m] && !have[m] {
			modes = append(modes, m)
			have[m] = true
		}
	}
	return strings.Join(modes, ",")
}

func open(cfg Config, session map[string]string, batch bool) (*sql.DB, error) {
	d := mysqldriver.NewConfig()
	d.User, d.Passwd, d.DBName = cfg.User, cfg.Password, cfg.Schema
	d.Net, d.Addr = "tcp", cfg.Address()
	if cfg.Socket != "" {
		d.Net = "unix"
	}
	d.Timeout = cfg.Timeout
	var err error
	if d.TLS, d.AllowFallbackToPlaintext, err = cfg.encryption(); err != nil {
		return nil, err
	}
	d.InterpolateParams = true
	d.Collation = "utf8mb4_bin"
	d.Params = session
	d.MultiStatements = batch
	d.Logger = silent{}
	connector, err := mysqldriver.NewConnector(d)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", cfg.Address(), err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	return db, nil
}

// silent keeps the driver from writing to stderr: every error it logs is
// also returned.
type silent struct{}

func (silent) Print(...any) {}

// plain takes the driver's wrapping off a network error, so that the line
// a user sees names the cause once.
func plain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	var server *mysqldriver.MySQLError
	if errors.As(err, &server) {
		return fmt.Errorf("%s (error %d)", server.Message, server.Number)
	}
	return err
}

func quoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Version is a server's version, as far as the engine tells them apart.
type Version struct {
	Text         string
	Major, Minor int
}

// ParseVersion reads @@version, such as "8.4.3-log".
func ParseVersion(text string) (Version, error) {
	v := Version{Text: text}
	if _, err := fmt.Sscanf(text, "%d.%d", &v.Major, &v.Minor); err != nil {
		return Version{}, fmt.Errorf("read server version %q: want MAJOR.MINOR", text)
	}
	return v, nil
}

// AtLeast reports whether the version is major.minor or later.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}
