package topology

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Timeouts of what can't take longer on a machine that works.
const (
	bootTimeout  = 60 * time.Second
	closeTimeout = 20 * time.Second
)

// Size of Server.DB.
const (
	openConns = 16
	idleConns = 4
)

// Server is one MySQL server.
type Server struct {
	Name    string  // "source", "replica-1", …
	Addr    string  // host:port on loopback, past every link
	DB      *sql.DB // as Root, without a default database; a small pool
	Version string  // @@version

	box     *box
	options []string // of every start
	inbound []*Link  // of its replicas
	clean   state    // as it was when the cluster was started
}

// Config returns a driver configuration for a direct login to the server.
func (s *Server) Config(account Account, database string) *mysql.Config {
	return account.Config(s.Addr, database)
}

// Restart stops the server as its operator would and starts it again. Extra
// options hold for this start alone. The address stays the same; a replica
// goes on replicating.
func (s *Server) Restart(ctx context.Context, extra ...string) error {
	if err := s.Terminate(ctx); err != nil {
		return err
	}
	return s.StartAgain(ctx, extra...)
}

// Terminate stops the server cleanly (SIGTERM) and waits until it is gone. A
// source with transactions that wait for an ACK may not end by it; then only
// Kill does.
func (s *Server) Terminate(ctx context.Context) error {
	// A server that ends waits for its idle sessions to go by themselves.
	s.DB.SetMaxIdleConns(0)
	defer s.DB.SetMaxIdleConns(idleConns)
	if err := s.box.signal("TERM"); err != nil {
		return fmt.Errorf("terminate %s: %w", s.Name, err)
	}
	// With replicas attached it waits ten seconds more. They get no other
	// connection once it has stopped listening, so then theirs can go.
	err := poll(ctx, "it to stop listening", func() (bool, error) {
		conn, err := net.Dial("tcp", s.Addr)
		if err == nil {
			conn.Close()
		}
		return err != nil || !s.Running(), nil
	})
	if err == nil {
		for _, link := range s.inbound {
			link.Reset()
		}
		err = s.box.ended(ctx)
	}
	if err != nil {
		return fmt.Errorf("terminate %s: %w", s.Name, err)
	}
	return nil
}

// Kill kills the server (SIGKILL) and waits until it is gone. Its data stays
// as it is, for StartAgain.
func (s *Server) Kill(ctx context.Context) error {
	err := s.box.signal("KILL")
	if err == nil {
		err = s.box.ended(ctx)
	}
	if err != nil {
		return fmt.Errorf("kill %s: %w", s.Name, err)
	}
	return nil
}

// StartAgain starts a server that was killed or terminated and waits until it
// answers. Extra options hold for this start alone.
func (s *Server) StartAgain(ctx context.Context, extra ...string) error {
	if err := validateOptions("the extra options", extra); err != nil {
		return fmt.Errorf("start %s: %w", s.Name, err)
	}
	// The port was ours a moment ago: whoever has it now gives it back soon.
	extra = append([]string{"--port-open-timeout=10"}, extra...)
	if err := s.start(ctx, extra); err != nil {
		return fmt.Errorf("start %s: %w", s.Name, err)
	}
	return nil
}

// Container returns the ID of the server's container.
func (s *Server) Container() string { return s.box.id }

// Socket is the path of a server's socket inside its container.
const Socket = "/rowproof/mysqld.sock"

// WaitReady waits until the server answers.
func (s *Server) WaitReady(ctx context.Context) error {
	return poll(ctx, s.Name+" to answer", func() (bool, error) {
		if state, _ := s.box.current(); !state.running() {
			return false, errors.New("the server does not run")
		}
		return s.DB.PingContext(ctx) == nil, nil
	})
}

// Ping asks the server for a sign of life.
func (s *Server) Ping(ctx context.Context) error {
	if err := s.DB.PingContext(ctx); err != nil {
		return fmt.Errorf("ping %s: %w", s.Name, err)
	}
	return nil
}

// Running reports whether the server's process is there.
func (s *Server) Running() bool {
	state, _ := s.box.current()
	return state.running()
}

// ErrorLog returns the last lines of the server's error log.
func (s *Server) ErrorLog(ctx context.Context, lines int) (string, error) {
	return s.box.log(ctx, lines)
}

// CPU returns the processor time that the server has used so far, all its
// starts together.
func (s *Server) CPU(ctx context.Context) (time.Duration, error) {
	used, err := s.box.cpu(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask %s for its processor time: %w", s.Name, err)
	}
	return used, nil
}

// Variables returns the server's global variables.
func (s *Server) Variables(ctx context.Context) (map[string]string, error) {
	rows, err := s.DB.QueryContext(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, fmt.Errorf("read variables of %s: %w", s.Name, err)
	}
	defer rows.Close()
	vars := make(map[string]string)
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("read variables of %s: %w", s.Name, err)
		}
		vars[name] = value
	}
	return vars, rows.Err()
}

// atLeast compares the server's version.
func (s *Server) atLeast(major, minor int) bool {
	parts := strings.SplitN(s.Version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	gotMajor, _ := strconv.Atoi(parts[0])
	gotMinor, _ := strconv.Atoi(parts[1])
	return gotMajor > major || gotMajor == major && gotMinor >= minor
}

// errPortTaken means that the server found its port in use.
var errPortTaken = errors.New("port in use")

// bootTries is how many ports are tried: another process may take a port
// between our look at it and the server's.
const bootTries = 5

// boot starts the server for the first time.
func (s *Server) boot(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	if s.box.engine.bridge {
		addr, err := s.box.published(ctx)
		if err != nil {
			return fmt.Errorf("start %s: %w", s.Name, err)
		}
		if err := s.open(addr); err != nil {
			return fmt.Errorf("start %s: %w", s.Name, err)
		}
		if err := s.start(ctx, nil); err != nil {
			return fmt.Errorf("start %s: %w", s.Name, err)
		}
		return nil
	}
	var err error
	for range bootTries {
		var port string
		if port, err = freePort(ctx); err != nil {
			return fmt.Errorf("start %s: %w", s.Name, err)
		}
		if err = s.open(net.JoinHostPort("127.0.0.1", port)); err != nil {
			break
		}
		if err = s.start(ctx, nil); err == nil {
			return nil
		}
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return fmt.Errorf("start %s: %w", s.Name, err)
}

// start starts mysqld and waits until it answers at Addr.
func (s *Server) start(ctx context.Context, extra []string) error {
	bind, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return err
	}
	if s.box.engine.bridge { // the container's own; the host publishes it at Addr
		bind, port = "0.0.0.0", "3306"
	}
	// The name of this start: another server may answer on the port.
	pidFile := "/rowproof/" + rand.Text() + ".pid"
	// These come last and win.
	address := []string{"--bind-address=" + bind, "--port=" + port, "--pid-file=" + pidFile}
	if err := s.box.start(ctx, slices.Concat(s.options, extra, address)); err != nil {
		return err
	}
	return poll(ctx, "the server to answer", func() (bool, error) {
		var got string
		err := s.DB.QueryRowContext(ctx, "SELECT @@pid_file, @@version").Scan(&got, &s.Version)
		if err == nil && got == pidFile {
			return true, nil
		}
		if state, _ := s.box.current(); !state.running() {
			return false, s.bootError(ctx, state)
		}
		return false, nil
	})
}

// open gives the server its address, and opens the pool for it.
func (s *Server) open(addr string) error {
	if s.DB != nil {
		if err := s.DB.Close(); err != nil {
			return fmt.Errorf("close database: %w", err)
		}
	}
	s.Addr = addr
	connector, err := mysql.NewConnector(s.Config(Root(), ""))
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	s.DB = sql.OpenDB(connector)
	s.DB.SetMaxOpenConns(openConns)
	s.DB.SetMaxIdleConns(idleConns)
	return nil
}

// bootError explains why mysqld ended, in its own words.
func (s *Server) bootError(ctx context.Context, state boxState) error {
	text, err := s.box.log(ctx, 100)
	if err != nil {
		return fmt.Errorf("the server ended with status %s; %w", state.status, err)
	}
	// The log holds earlier starts too; serve writes this line at each.
	text = text[strings.LastIndex(text, "rowproof: start")+1:]
	if strings.Contains(text, "Address already in use") {
		return errPortTaken
	}
	for line := range strings.Lines(text) {
		if _, message, found := strings.Cut(line, "[ERROR]"); found {
			return fmt.Errorf("the server ended with status %s:%s", state.status, strings.TrimRight(message, "\n"))
		}
	}
	return fmt.Errorf("the server ended with status %s", state.status)
}

// close ends the server. What still waits in a session sees it end.
func (s *Server) close() error {
	err := s.box.discard()
	if s.DB != nil {
		// A connection that saw the server go says goodbye in vain.
		if lost := s.DB.Close(); !errors.Is(lost, driver.ErrBadConn) {
			err = errors.Join(err, lost)
		}
	}
	return err
}

// Ports of servers lie below those that systems give to outgoing connections,
// so that a restarted server finds its port free again.
const (
	firstPort = 20000
	portCount = 10000
)

// Ports returns the ports of servers on the host's network, and those of
// them that somebody uses now.
func Ports(ctx context.Context) (first, last int, used []int, err error) {
	first, last = firstPort, firstPort+portCount-1
	for port := first; port <= last; port++ {
		free, err := portFree(ctx, strconv.Itoa(port))
		if err != nil {
			return first, last, used, fmt.Errorf("look at ports: %w", err)
		}
		if !free {
			used = append(used, port)
		}
	}
	return first, last, used, nil
}

// portFree reports whether nobody uses a port on loopback.
func portFree(ctx context.Context, port string) (bool, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return false, ctx.Err()
	}
	return true, listener.Close()
}

// freePort returns a port on loopback that nobody uses right now.
func freePort(ctx context.Context) (string, error) {
	for range 100 {
		n, err := rand.Int(rand.Reader, big.NewInt(portCount))
		if err != nil {
			return "", fmt.Errorf("find a free port: %w", err)
		}
		port := strconv.FormatInt(firstPort+n.Int64(), 10)
		if free, err := portFree(ctx, port); free || err != nil {
			return port, err
		}
	}
	return "", errors.New("find a free port: 100 tries were all in use")
}

// mustPort converts a port that the engine gave.
func mustPort(text string) uint16 {
	n, _ := strconv.ParseUint(text, 10, 16)
	return uint16(n)
}
