package wire_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"rowproof/harness/wire"
)

func TestParseCommand(t *testing.T) {
	set := "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
	gtids := "\x01\x00\x00\x00\x00\x00\x00\x00" + set + "\x01\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00" + "\x2b\x00\x00\x00\x00\x00\x00\x00"
	for _, c := range []struct {
		name, packet string
		caps         uint32
		kind         wire.Kind
		sql          string
		err          bool
	}{
		{name: "Query", packet: "\x03select 1", kind: wire.KindQuery, sql: "select 1"},
		{name: "NoAttributes", packet: "\x03\x00\x01select 1", caps: capQueryAttributes, kind: wire.KindQuery, sql: "select 1"},
		{name: "Attributes", packet: "\x03\x03\x01\x02\x01" + "\xfd\x00\x01a" + "\x08\x00\x01b" + "\x0c\x00\x01c" +
			"\x02hi" + "\x04\x01\x02\x03\x04" + "select 1", caps: capQueryAttributes, kind: wire.KindQuery, sql: "select 1"},
		{name: "ErrAttributes", packet: "\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", caps: capQueryAttributes, err: true},
		{name: "Dump", packet: "\x12\x04\x00\x00\x00\x00\x00\x09\x00\x00\x00binlog.000001", kind: wire.KindDump, sql: "binlog dump from binlog.000001:4"},
		{name: "DumpGTID", packet: "\x1e\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00" +
			string(binary.LittleEndian.AppendUint32(nil, uint32(len(gtids)))) + gtids,
			kind: wire.KindDump, sql: "binlog dump without GTIDs 01020304-0506-0708-090a-0b0c0d0e0f10:1-42"},
		{name: "InitDB", packet: "\x02shop", kind: wire.KindInitDB, sql: "shop"},
		{name: "ErrEmpty", packet: "", err: true},
		{name: "ErrUnknown", packet: "\xfa", err: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, sql, err := wire.ParseCommand([]byte(c.packet), c.caps)
			if (err != nil) != c.err || kind != c.kind || sql != c.sql {
				t.Errorf("got %q, %q, %v; want %q, %q", kind, sql, err, c.kind, c.sql)
			}
		})
	}
}

// FuzzPacketReader: whatever comes, in whatever pieces, the reader gives back
// the bytes that came, and memory only for these.
func FuzzPacketReader(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x0e\x09\x00\x00\x00\x03select 1"))
	f.Add([]byte("\x00\x00\x00\x07"))
	f.Add([]byte("\xff\xff\xff\x00\x03"))
	f.Add([]byte("\x16\x03\x01\x02\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := wire.ReadPackets(iotestOneByte{bytes.NewReader(in)})
		if err == nil {
			t.Fatal("no error at the end")
		}
		rest := in
		for _, p := range got {
			if !bytes.Equal(p, rest[4:4+len(p)]) {
				t.Fatalf("packet %q is not what came", p)
			}
			rest = rest[4+len(p):]
		}
		if len(rest) >= 4 && len(rest) >= 4+(int(rest[0])|int(rest[1])<<8|int(rest[2])<<16) {
			t.Fatalf("a whole packet was left: %q", rest)
		}
	})
}

// iotestOneByte gives at most three bytes at a time.
type iotestOneByte struct{ r *bytes.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(3, len(p))]) }

// split makes packets of fuzz data: a length byte, and so many bytes.
func split(b []byte) [][]byte {
	var packets [][]byte
	for len(b) > 0 {
		n := min(int(b[0]), len(b)-1)
		packets = append(packets, b[1:1+n])
		b = b[1+n:]
	}
	return packets
}

func join(packets ...string) []byte {
	var b []byte
	for _, p := range packets {
		b = append(append(b, byte(len(p))), p...)
	}
	return b
}

// FuzzSession: no greeting, login, command or reply makes a parser panic, or
// keep more than it should.
func FuzzSession(f *testing.F) {
	def := "\x03def\x00\x00\x00\x01a\x00\x0c\x2d\x00\x00\x01\x00\x00\xfd\x00\x00\x00\x00\x00"
	eof := "\xfe\x00\x00\x02\x00"
	ok := "\x00\x00\x00\x02\x00\x00\x00"
	f.Add([]byte("\x03select 1"), uint32(0), join("\x01", def, eof, "\x011", eof))
	f.Add([]byte("\x03select 1"), uint32(capDeprecateEOF), join("\x01", def, "\x011", "\xfe\x00\x00\x0a\x00\x00\x00", ok))
	f.Add([]byte("\x03\x01\x01\x00\x01\x08\x00\x01aabcdefghselect 1"), uint32(capQueryAttributes), join(ok))
	f.Add([]byte("\x16select ?"), uint32(0), join("\x00\x01\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00", def, eof, def, eof))
	f.Add([]byte("\x17\x01\x00\x00\x00"), uint32(1<<25), join("\x01\x00", "\xff\x16\x04#23000no"))
	f.Add([]byte("\x17\x01\x00\x00\x00"), uint32(0), join("\x01", def[:len(def)-6]+"\x0c\x00\x00\x00\x00\x00", eof, "\x00\x00\x0b\xe8\x07\x01\x02\x03\x04\x05\x01\x02\x03\x04", eof))
	f.Add([]byte("\x03load data"), uint32(0), join("\xfbfile", ok))
	f.Add([]byte("\x11u"), uint32(0), join("\xfeplugin", ok))
	f.Add([]byte("\x1e\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"), uint32(0), join("\x00"))
	f.Add([]byte("\x1e\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"+
		"0123456789abcdef\xff\xff\xff\xff\xff\xff\xff\x07\x01\x00\x00\x00\x00\x00\x00\x00"), uint32(0), join("\x00"))
	f.Fuzz(func(t *testing.T, command []byte, caps uint32, reply []byte) {
		wire.ParseGreeting(bytes.Clone(command))
		wire.ParseLogin(command, caps)
		wire.ParseCommand(command, caps)
		r, used, err := wire.ParseReply(command, caps, split(reply))
		if len(r.Rows) > 8 || len(r.Columns) > used {
			t.Fatalf("kept %d rows and %d columns of %d packets (%v)", len(r.Rows), len(r.Columns), used, err)
		}
	})
}

// FuzzEvents: no binlog stream makes the parser panic.
func FuzzEvents(f *testing.F) {
	for _, b := range []*binlog{sample(true, true, false), sample(false, true, true)} {
		var in []byte
		for _, p := range b.packets {
			in = append(append(in, byte(len(p))), p...)
		}
		f.Add(in)
	}
	tagged := &binlog{}
	tagged.format()
	tagged.add(42, 0, true, []byte("\x02\x30\x00\x00\x01\x02"))
	tagged.add(40, 0, true, []byte("\x02\x01\x00\x01\x01\x05\x00hello"))
	var in []byte
	for _, p := range tagged.packets {
		in = append(append(in, byte(len(p))), p...)
	}
	f.Add(in)
	f.Fuzz(func(t *testing.T, in []byte) {
		packets := split(in)
		for i, p := range packets { // the right length, so that the fuzzer gets past it
			if len(p) >= 20 && p[0] == 0 && p[1] != 0xef {
				p = bytes.Clone(p)
				binary.LittleEndian.PutUint32(p[10:], uint32(len(p)-1))
				packets[i] = p
			}
		}
		events, _ := wire.ParseEvents(packets)
		if len(events) > len(packets) {
			t.Fatal(cmp.Diff(len(events), len(packets)))
		}
	})
}
