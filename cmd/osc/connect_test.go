package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/engine"
	"rowproof/harness/topology"
)

// migrator runs osc on the table t as it is: no flag but these is given.
func migrator(t *testing.T, flags ...string) (outcome engine.Outcome, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	outcome = run(t.Context(), append(flags, "--database="+topology.Database, "--table=t", "--alter=MODIFY v BIGINT", "--execute"), &out, &log)
	return outcome, log.String()
}

func address(t *testing.T, server *topology.Server) []string {
	t.Helper()
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--host=" + host, "--port=" + port, "--user=" + topology.Migrator().User}
}

// The account may log in with TLS alone, so every connection, that of the
// stream too, must be encrypted for a migration to succeed.
func TestTLS(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	execute(t, server.DB, "ALTER USER "+topology.Migrator().User+" REQUIRE SSL")
	t.Setenv("MYSQL_PWD", topology.Migrator().Password)
	dir := t.TempDir()
	wrong, right := filepath.Join(dir, "wrong.pem"), filepath.Join(dir, "right.pem")
	writePEM(t, wrong, selfSigned(t))
	writePEM(t, right, authority(t, server))
	for _, c := range []struct {
		flags []string
		want  engine.Outcome
		says  string
	}{
		{flags: nil, want: engine.Completed},
		{flags: []string{"--ssl-mode=required"}, want: engine.Completed},
		{flags: []string{"--ssl-mode=VERIFY_CA", "--ssl-ca=" + right}, want: engine.Completed},
		{flags: []string{"--ssl-ca=" + right}, want: engine.Completed},
		{flags: []string{"--ssl-mode=disabled"}, want: engine.Refused, says: "Access denied"},
		{flags: []string{"--ssl-mode=verify-ca", "--ssl-ca=" + wrong}, want: engine.Refused, says: "certificate signed by unknown authority"},
		{flags: []string{"--ssl-ca=" + wrong}, want: engine.Refused, says: "certificate signed by unknown authority"},
		{flags: []string{"--ssl-mode=verify-identity", "--ssl-ca=" + right}, want: engine.Refused, says: "x509: "}, // it names no host
		{flags: []string{"--ssl-mode=maybe"}, want: engine.Usage, says: "--ssl-mode=maybe: want disabled, preferred, required, verify-ca or verify-identity"},
		{flags: []string{"--ssl-ca=" + filepath.Join(dir, "none")}, want: engine.Usage, says: "none: no such file"},
	} {
		t.Run(strings.Join(c.flags, " "), func(t *testing.T) {
			fill(t, server, 3)
			got, log := migrator(t, append(address(t, server), c.flags...)...)
			if got != c.want {
				t.Fatalf("exit status: got %d, want %d\n%s", got, c.want, log)
			}
			if c.says != "" && (!strings.Contains(log, c.says) || strings.Count(log, "\n") != 1) {
				t.Errorf("stderr: got %q, want one line that says %q", log, c.says)
			}
		})
	}
}

func TestDefaultsFile(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	account := topology.Migrator()
	client := fmt.Sprintf("[mysqld]\nuser=mysql\n[client]\nhost=%s\nport=%s\nuser=%s\ndefault-character-set=utf8mb4\n", host, port, account.User)
	whole := client + "password='" + account.Password + "' # secret\n"
	for _, c := range []struct {
		name, file, password string
		flags                []string
		want                 engine.Outcome
		says                 string // PATH stands for the file
	}{
		{name: "whole", file: whole, password: "wrong", want: engine.Completed},
		{name: "password from the environment", file: client, password: account.Password, want: engine.Completed},
		{name: "flag goes before", file: whole, flags: []string{"--user=nobody"}, want: engine.Refused, says: "Access denied for user 'nobody'"},
		{name: "socket of this machine", file: whole + "socket=/none\n", want: engine.Completed},
		{name: "socket by flag", file: whole, flags: []string{"--socket=/none"}, want: engine.Refused, says: "connect to /none"},
		{name: "engine's own group", file: whole + "[osc]\nchunk-size=7\nverify=off\nok-to-drop-table\n", want: engine.Completed},
		{name: "flag of the command line alone", file: whole + "[osc]\nexecute\n", want: engine.Usage, says: "PATH:10: execute is no option that a file can set"},
		{name: "unknown option", file: whole + "[osc]\n\nchunksize=7\n", want: engine.Usage, says: "PATH:11: chunksize is no option"},
		{name: "bad value", file: whole + "[osc]\nchunk-size=many\n", want: engine.Usage, says: "PATH:10: chunk-size=many: "},
		{name: "bad file", file: "host=x\n", want: engine.Usage, says: "PATH:1: an option stands before the first [group]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fill(t, server, 3)
			t.Setenv("MYSQL_PWD", c.password)
			path := filepath.Join(t.TempDir(), "my.cnf")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, log := migrator(t, append(c.flags, "--defaults-file="+path)...)
			if got != c.want {
				t.Fatalf("exit status: got %d, want %d\n%s", got, c.want, log)
			}
			says := strings.ReplaceAll(c.says, "PATH", path)
			if says != "" && (!strings.Contains(log, says) || strings.Count(log, "\n") != 1) {
				t.Errorf("stderr: got %q, want one line that says %q", log, says)
			}
			if strings.Contains(log, account.Password) {
				t.Errorf("stderr: got %q, want no password in it", log)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		got, log := migrator(t, "--defaults-file=/nonexistent")
		if want := "osc: read option file: open /nonexistent: no such file or directory\n"; got != engine.Usage || log != want {
			t.Errorf("got %d, %q, want %d, %q", got, log, engine.Usage, want)
		}
	})
}

// All connections, that of the stream too, go through the unix socket.
func TestSocket(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	fill(t, server, 100)
	// The server's own socket is in its container. Behind ours it sees TCP,
	// over which the account can log in as on a socket once the server has
	// its password in mind.
	connector, err := mysql.NewConnector(server.Config(topology.Migrator(), ""))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	path := filepath.Join(t.TempDir(), "mysql.sock")
	forward(t, path, server.Addr)
	t.Setenv("MYSQL_PWD", topology.Migrator().Password)
	if got, log := migrator(t, "--socket="+path, "--user="+topology.Migrator().User); got != engine.Completed {
		t.Fatalf("exit status: got %d, want %d\n%s", got, engine.Completed, log)
	}
	if got := count(t, server, "t"); got != 100 {
		t.Errorf("rows: got %d, want 100", got)
	}
}

// forward joins a unix socket to an address until the test ends.
func forward(t *testing.T, path, addr string) {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	t.Cleanup(func() { cancel(); listener.Close(); group.Wait() })
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", addr)
			if err != nil {
				client.Close()
				continue
			}
			both := func() { client.Close(); upstream.Close() }
			stop := context.AfterFunc(ctx, both)
			group.Go(func() { _, _ = io.Copy(client, upstream); both(); stop() })
			group.Go(func() { _, _ = io.Copy(upstream, client); both(); stop() })
		}
	})
}

// selfSigned is a certificate that has signed nothing.
func selfSigned(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nobody"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// authority is the certificate at the end of the chain that the server shows.
func authority(t *testing.T, server *topology.Server) []byte {
	t.Helper()
	var chain [][]byte
	cfg := server.Config(topology.Root(), "")
	cfg.TLS = &tls.Config{InsecureSkipVerify: true, VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
		chain = raw
		return nil
	}}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return chain[len(chain)-1]
}

func writePEM(t *testing.T, path string, der []byte) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
