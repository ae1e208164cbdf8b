package wire_test

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"rowproof/harness/wire"
)

// What the proxy can't read, it says so: to the client, and to its owner.
func TestErrRefuse(t *testing.T) {
	setup := func(t *testing.T) *wire.Proxy {
		return listen(t, serve(t, capSSL|capCompress|capZstd, answers(map[string][]result{
			"hang": {{hang: true}},
		})), wire.Config{})
	}
	check := func(t *testing.T, p *wire.Proxy, got, want string) {
		t.Helper()
		if got == "" || got[0] != 0xff || !strings.Contains(got, want) || !strings.Contains(got, "rowproof proxy") {
			t.Errorf("the client got %q, want an ERR about %q", got, want)
		}
		if err := p.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("proxy error: got %v, want %q", err, want)
		}
	}
	for name, c := range map[string]struct {
		caps uint32
		want string
	}{
		"TLS":      {baseCaps | capSSL, "TLS"},
		"Compress": {baseCaps | capCompress, "compression"},
		"Zstd":     {baseCaps | capZstd, "compression"},
		"Old":      {baseCaps &^ 512, "older than MySQL 4.1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := setup(t)
			raw := rawClient{t, dial(t, p.Addr())}
			greeting := []byte(raw.read())
			if offered, _, err := wire.ParseGreeting(greeting); err != nil || offered&(capSSL|capCompress|capZstd) != 0 {
				t.Errorf("the greeting still offers %x, %v", offered, err)
			}
			raw.send(1, loginPayload(c.caps))
			check(t, p, raw.read(), c.want)
			if got := raw.read(); got != "" {
				t.Errorf("the connection stays open: %q", got)
			}
		})
	}
	for name, bytes := range map[string]string{
		"HTTP":  "GET / HTTP/1.1\r\n\r\n",
		"Hello": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"Long":  "\xff\xff\xff\x01",
	} {
		t.Run(name, func(t *testing.T) {
			p := setup(t)
			raw := rawClient{t, dial(t, p.Addr())}
			raw.read()
			raw.Write([]byte(bytes))
			check(t, p, raw.read(), "not the MySQL protocol")
		})
	}
	for name, c := range map[string]struct{ bytes, want string }{
		"Number":  {"\x01\x00\x00\x07\x03", "not the MySQL protocol"},
		"Empty":   {"\x00\x00\x00\x00", "not the MySQL protocol"},
		"Command": {"\x01\x00\x00\x00\x77", "0x77 is not known"},
		"Short":   {"\x02\x00\x00\x00\x17\x01", "packet ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			p := setup(t)
			raw := login(t, p)
			raw.Write([]byte(c.bytes))
			check(t, p, raw.read(), c.want)
		})
	}
	t.Run("Driver", func(t *testing.T) { // a real client shows a clear text
		p := setup(t)
		_, err := client.Connect(p.Addr(), "u", "p", "", func(c *client.Conn) error {
			c.SetTLSConfig(&tls.Config{InsecureSkipVerify: true})
			return nil
		})
		if err == nil {
			t.Error("connected with TLS")
		}
	})
}

// upstream is a server that sends what a test wants, whatever it is asked.
func upstream(t *testing.T, talk func(net.Conn)) *wire.Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		talk(c)
	}()
	t.Cleanup(func() { l.Close(); <-done })
	p, err := wire.Listen(t.Context(), wire.Config{Upstream: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestErrServer(t *testing.T) {
	greeting := "\x0a9.9\x00\x01\x00\x00\x0012345678\x00\xff\xf7\x2d\x02\x00\x0f\x00\x15" + strings.Repeat("\x00", 10) + "123456789012\x00mysql_native_password\x00"
	for name, c := range map[string]struct {
		reply []byte
		want  string
	}{
		"Number":  {wire.MakePacket(5, []byte{0, 0, 0, 2, 0, 0, 0}), "packet number 5, want 1"},
		"Empty":   {wire.MakePacket(1, nil), "a packet is empty"},
		"Columns": {wire.MakePacket(1, []byte{0xfd, 0xff, 0xff, 0xff}), "columns"},
		"OK":      {wire.MakePacket(1, []byte{0}), "ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			p := upstream(t, func(s net.Conn) {
				raw := rawClient{t, s}
				raw.send(0, greeting)
				raw.read()
				raw.send(2, "\x00\x00\x00\x02\x00\x00\x00")
				raw.read()
				s.Write(c.reply)
				raw.read()
			})
			raw := login(t, p)
			raw.send(0, "\x03select 1")
			if got := raw.read(); got == "" || got[0] != 0xff || !strings.Contains(got, c.want) {
				t.Errorf("the client got %q, want an ERR about %q", got, c.want)
			}
			if err := p.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("proxy error: got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("NotMySQL", func(t *testing.T) {
		p := upstream(t, func(s net.Conn) { s.Write([]byte("SSH-2.0-OpenSSH_9.9\r\n")); rawClient{t, s}.read() })
		raw := rawClient{t, dial(t, p.Addr())}
		if got := raw.read(); !strings.Contains(got, "not the MySQL protocol") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("TooManyConnections", func(t *testing.T) { // the server's own refusal passes
		p := upstream(t, func(s net.Conn) { rawClient{t, s}.send(0, "\xff\x10\x04Too many connections") })
		raw := rawClient{t, dial(t, p.Addr())}
		if got := raw.read(); !strings.HasSuffix(got, "Too many connections") {
			t.Errorf("got %q", got)
		}
		noErr(t, p)
	})
}
