package topology_test

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"rowproof/harness/topology"
)

func TestToolbox(t *testing.T) {
	source := start(t, topology.Spec{}).Source()
	for _, statement := range []string{
		"CREATE DATABASE rowproof",
		"CREATE TABLE rowproof.t (id INT PRIMARY KEY, a INT NOT NULL)",
		"INSERT INTO rowproof.t VALUES (1, 10), (2, 20), (3, 30)",
	} {
		_, err := source.DB.ExecContext(t.Context(), statement)
		must(t, err)
	}
	var log buffer
	box, err := topology.OpenToolbox(t.Context(), &log)
	must(t, err)
	t.Cleanup(func() { must(t, box.Close()) })

	host, port, err := box.Reach(source.Addr)
	must(t, err)
	password := "MYSQL_PWD=" + topology.Root().Password
	dsn := "h=" + host + ",P=" + port + ",u=" + topology.Root().User + ",D=rowproof,t=t"
	args := []string{"--execute", "--recursion-method=none", "--alter=MODIFY a BIGINT NOT NULL", dsn}

	t.Run("OK", func(t *testing.T) {
		must(t, box.Start(t.Context(), args, []string{password}))
		r, err := box.Wait(t.Context())
		must(t, err)
		if r.Status != 0 || r.PeakRSS < 1<<20 || r.CPU <= 0 {
			t.Errorf("got %+v, want status 0 and what it used; it wrote\n%s", r, log.String())
		}
		var kind string
		must(t, source.DB.QueryRowContext(t.Context(),
			"SELECT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'rowproof' AND TABLE_NAME = 't' AND COLUMN_NAME = 'a'").Scan(&kind))
		if kind != "bigint" {
			t.Errorf("column a is %s, want bigint", kind)
		}
		if !strings.Contains(log.String(), "Successfully altered") {
			t.Errorf("the log is\n%swant the tool's own words", log.String())
		}
	})
	t.Run("ErrStatus", func(t *testing.T) {
		must(t, box.Start(t.Context(), args, []string{"MYSQL_PWD=wrong"}))
		r, err := box.Wait(t.Context())
		must(t, err)
		if r.Status == 0 {
			t.Errorf("got status 0 with a wrong password")
		}
	})
	t.Run("ErrKilled", func(t *testing.T) {
		conn, err := source.DB.Conn(t.Context())
		must(t, err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "LOCK TABLES rowproof.t WRITE") // so that it can't end
		must(t, err)
		must(t, box.Start(t.Context(), args, []string{password}))
		must(t, box.Signal("KILL"))
		r, err := box.Wait(t.Context())
		must(t, err)
		if r.Status != 128+9 || r.PeakRSS == 0 {
			t.Errorf("got %+v, want status %d and what it used", r, 128+9)
		}
	})
	t.Run("ErrLineBreak", func(t *testing.T) {
		if err := box.Start(t.Context(), []string{"--alter=ADD b INT,\nADD c INT"}, nil); err == nil {
			t.Error("got no error")
		}
	})
	t.Run("OKGoneWhenClosed", func(t *testing.T) {
		other, err := topology.OpenToolbox(t.Context(), &log)
		must(t, err)
		before := len(owned(t, engine(t), os.Getpid()))
		must(t, other.Close())
		if after := len(owned(t, engine(t), os.Getpid())); after != before-1 {
			t.Errorf("%d containers before and %d after, want one less", before, after)
		}
	})
}

// buffer is a log that is read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
