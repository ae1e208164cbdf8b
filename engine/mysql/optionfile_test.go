package mysql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadOptionFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "more"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "more/a.cnf", "[client]\nport=3307\n")
	write(t, dir, "more/b.txt", "[client]\nport=1\n")
	path := write(t, dir, "my.cnf", `
# a comment
; another
[mysqld]
port = 3306
[client]
  user = dba   # the boss
password = "a#b\"c" # quoted
ssl_mode=VERIFY_CA
socket = '/run/my sql.sock'
init-command = it's \t\s\q\\n
empty =
password
!includedir more
[osc]
max-load=Threads_running=25
`)
	got, err := ReadOptionFile(path, "client", "osc")
	if err != nil {
		t.Fatal(err)
	}
	at := func(n string) string { return path + ":" + n }
	want := []Option{
		{"client", "user", "dba", true, at("7")},
		{"client", "password", `a#b"c`, true, at("8")},
		{"client", "ssl-mode", "VERIFY_CA", true, at("9")},
		{"client", "socket", "/run/my sql.sock", true, at("10")},
		{"client", "init-command", "it's \t \\q\\n", true, at("11")},
		{"client", "empty", "", true, at("12")},
		{"client", "password", "", false, at("13")},
		{"client", "port", "3307", true, filepath.Join(dir, "more/a.cnf") + ":2"},
		{"osc", "max-load", "Threads_running=25", true, at("16")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestReadOptionFileErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, says string }{
		{"no group", "user=x\n", ":1: an option stands before the first [group]"},
		{"open group", "\n[client\n", ":2: the group has no ]"},
		{"unknown directive", "[client]\n!import x\n", ":2: want !include FILE or !includedir FOLDER"},
		{"missing include", "!include none.cnf\n", "none.cnf: no such file"},
		{"includes itself", "!include includes itself\n", "too deeply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadOptionFile(write(t, dir, c.name, c.text), "client")
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line that says %q", err, c.says)
			}
		})
	}
	t.Run("writable by everybody", func(t *testing.T) {
		path := write(t, dir, "open", "[client]\n")
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadOptionFile(path, "client"); err == nil || !strings.Contains(err.Error(), "everybody may write it") {
			t.Errorf("got %v, want an error that everybody may write it", err)
		}
	})
}

func TestTLSModes(t *testing.T) {
	for _, c := range []struct {
		tls  TLS
		want TLSMode
	}{
		{TLS{}, TLSPreferred},
		{TLS{Mode: "VERIFY_IDENTITY"}, TLSVerifyIdentity},
		{TLS{Mode: "Required"}, TLSRequired},
		{TLS{CA: "ca"}, TLSVerifyCA},
		{TLS{CA: "ca", Mode: "required"}, TLSVerifyCA},
		{TLS{CA: "ca", Mode: "disabled"}, TLSDisabled},
		{TLS{CA: "ca", Mode: "verify-identity"}, TLSVerifyIdentity},
	} {
		if got, err := c.tls.mode(); got != c.want || err != nil {
			t.Errorf("%+v: got %q, %v, want %q", c.tls, got, err, c.want)
		}
	}
	for _, bad := range []TLS{{Mode: "maybe"}, {Mode: "required", Cert: "a"}, {CA: "/nonexistent"}, {Cert: "/none", Key: "/none"}} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%+v: got no error", bad)
		}
	}
}
