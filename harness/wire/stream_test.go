package wire_test

import (
	"encoding/binary"
	"hash/crc32"
	"net"
	"strconv"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/google/go-cmp/cmp"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// binlog writes events as a server sends them.
type binlog struct {
	checksum bool // the stream carries checksums
	inFile   bool // the file does: positions count them
	semiSync bool
	pos      uint32
	packets  [][]byte
}

func (b *binlog) add(kind byte, flags uint16, inFile bool, body []byte) {
	size := uint32(19 + len(body))
	if b.checksum {
		size += 4
	}
	end := uint32(0)
	if inFile {
		b.pos += size
		if b.inFile && !b.checksum {
			b.pos += 4
		}
		end = b.pos
	}
	e := []byte{0xef, 1, 2, 3, kind, 1, 0, 0, 0} // a time that looks like semi-sync's mark
	e = binary.LittleEndian.AppendUint32(e, size)
	e = binary.LittleEndian.AppendUint32(e, end)
	e = binary.LittleEndian.AppendUint16(e, flags)
	e = append(e, body...)
	if b.checksum {
		e = binary.LittleEndian.AppendUint32(e, crc32.ChecksumIEEE(e))
	}
	head := []byte{0}
	if b.semiSync {
		head = []byte{0, 0xef, 1}
	}
	b.packets = append(b.packets, append(head, e...))
}

// format writes a format event, whose last bytes say whether checksums follow.
func (b *binlog) format() {
	body := append([]byte{4, 0}, make([]byte, 50+4)...)
	copy(body[2:], "9.9.9-fake")
	body = append(body, 19)
	body = append(body, make([]byte, 42)...)
	alg := byte(0)
	if b.checksum {
		alg = 1
	}
	body = append(body, alg)
	if b.checksum {
		b.add(15, 0, true, body)
		return
	}
	// It has room for a checksum in any case.
	was := b.inFile
	b.inFile = false
	b.add(15, 0, true, append(body, 0, 0, 0, 0))
	b.inFile = was
}

// sample is a stream of one transaction, a statement and a rotation.
func sample(checksum, inFile, semiSync bool) *binlog {
	b := &binlog{checksum: checksum, inFile: inFile, semiSync: semiSync, pos: 4}
	b.add(4, 0x20, false, append([]byte{4, 0, 0, 0, 0, 0, 0, 0}, "binlog.000007"...))
	b.format()
	gtid := append([]byte{0}, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"...)
	b.add(33, 0, true, binary.LittleEndian.AppendUint64(gtid, 42))
	b.add(2, 0, true, []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00shop\x00BEGIN"))
	b.add(19, 0, true, []byte("\x07\x00\x00\x00\x00\x00\x01\x00\x04shop\x00\x06orders\x00\x01\x03\x00\x00"))
	b.add(31, 0, true, []byte("\x07\x00\x00\x00\x00\x00\x01\x00\x02\x00\x01\xff\xff\x00\x01\x00\x00\x00\x00\x02\x00\x00\x00"))
	b.add(30, 0, true, []byte("\x07\x00\x00\x00\x00\x00\x01\x00\x02\x00\x01\xff\x00\x01\x00\x00\x00"))
	b.add(16, 0, true, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	b.add(27, 0, false, []byte("binlog.000007"))
	b.add(4, 0, true, append([]byte{4, 0, 0, 0, 0, 0, 0, 0}, "binlog.000008"...))
	return b
}

const gtid42 = "01020304-0506-0708-090a-0b0c0d0e0f10:42"

func TestEvents(t *testing.T) {
	for name, b := range map[string]*binlog{
		"Checksum":       sample(true, true, false),
		"NoChecksum":     sample(false, false, false),
		"ChecksumInFile": sample(false, true, false),
		"SemiSync":       sample(true, true, true),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := wire.ParseEvents(b.packets)
			if err != nil {
				t.Fatal(err)
			}
			end := uint64(4)
			for i, e := range got { // every event starts where the one before ends
				if e.Kind == wire.EventHeartbeat || i == 0 {
					continue
				}
				if e.Start != end || e.End <= e.Start {
					t.Errorf("event %d, %s: from %d to %d, want from %d", i, e.Kind, e.Start, e.End, end)
				}
				end = e.End
			}
			for i := range got {
				got[i].Start, got[i].End = 0, 0
			}
			file := "binlog.000007"
			want := []wire.Event{
				{Kind: wire.EventRotate, File: file},
				{Kind: wire.EventFormat, File: file},
				{Kind: wire.EventGTID, File: file, GTID: gtid42},
				{Kind: wire.EventQuery, File: file, GTID: gtid42, Schema: "shop", SQL: "BEGIN"},
				{Kind: wire.EventTableMap, File: file, GTID: gtid42, Schema: "shop", Table: "orders"},
				{Kind: wire.EventRows, File: file, GTID: gtid42, Schema: "shop", Table: "orders", Change: history.Update, Nth: 1},
				{Kind: wire.EventRows, File: file, GTID: gtid42, Schema: "shop", Table: "orders", Change: history.Insert, Nth: 2},
				{Kind: wire.EventXID, File: file, GTID: gtid42},
				{Kind: wire.EventHeartbeat, File: file},
				{Kind: wire.EventRotate, File: file},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// dump opens a binlog stream through a proxy.
func dump(t *testing.T, p *wire.Proxy) *client.Conn {
	t.Helper()
	c, err := client.Connect(p.Addr(), "u", "p", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Conn.Conn.Close() })
	body := []byte{0, 0, 0, 0, 0x12, 4, 0, 0, 0, 0, 0, 9, 0, 0, 0}
	c.ResetSequence()
	if err := c.WritePacket(append(body, "binlog.000007"...)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStream(t *testing.T) {
	b := sample(true, true, true)
	setup := func(t *testing.T, config wire.Config) (*fakeServer, *wire.Proxy) {
		s := serve(t, 0, answers(map[string][]result{"dump": {{dump: b.packets}}}))
		p := listen(t, s, config)
		t.Cleanup(func() { noErr(t, p) })
		return s, p
	}
	isInsert := func(e wire.Event) bool { return e.Kind == wire.EventRows && e.Change == history.Insert }

	t.Run("Hold", func(t *testing.T) {
		s, p := setup(t, wire.Config{})
		started := p.Gate(wire.Rule{Step: step.Dump, Phase: wire.After, Action: wire.Observe, Role: wire.Binlog})
		g := p.EventGate(wire.EventRule{Match: isInsert})
		c := dump(t, p)
		if h, err := started.Wait(deadline(t)); err != nil || h.Command.SQL != "binlog dump from binlog.000007:4" {
			t.Errorf("dump: %+v, %v", h, err)
		}
		h, err := g.Wait(deadline(t))
		if err != nil {
			t.Fatal(err)
		}
		if h.Event == nil || h.Event.Table != "orders" || h.Command.Role != wire.Binlog {
			t.Errorf("hit: %+v", h)
		}
		for i := range 6 { // what comes before the held event is not held
			got, err := c.ReadPacket()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b.packets[i], got); diff != "" {
				t.Errorf("event %d changed on its way", i)
			}
		}
		// An ACK passes while an event is held.
		ack := []byte{0, 0, 0, 0, 0xef, 9, 0, 0, 0, 0, 0, 0, 0, 'f'}
		c.ResetSequence()
		if err := c.WritePacket(ack); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ack[4:], <-s.acks); diff != "" {
			t.Errorf("ack (-want +got):\n%s", diff)
		}
		c.Sequence = 7 // the number of the event that is held
		g.Release()
		for i := 6; i < len(b.packets); i++ {
			got, err := c.ReadPacket()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b.packets[i], got); diff != "" {
				t.Errorf("event %d changed on its way", i)
			}
		}
		if got := p.Streams(); len(got) != 1 || got[0].ServerID != 9 || got[0].ServerThread != h.Command.ServerThread {
			t.Errorf("streams: got %+v, want the one of server id 9", got)
		}
		if got := p.InFlight(); len(got) != 0 {
			t.Errorf("a stream is in flight: %+v", got)
		}
	})
	t.Run("Cut", func(t *testing.T) {
		s, p := setup(t, wire.Config{})
		g := p.EventGate(wire.EventRule{Match: isInsert, Action: wire.Cut, Occurrence: 1})
		c := dump(t, p)
		for range 6 {
			if _, err := c.ReadPacket(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.ReadPacket(); err == nil {
			t.Error("the stream went on behind the cut")
		}
		<-s.gone
		if g.Hits() != 1 {
			t.Errorf("hits: got %d, want 1", g.Hits())
		}
	})
	t.Run("CloseWhileHeld", func(t *testing.T) {
		_, p := setup(t, wire.Config{})
		g := p.EventGate(wire.EventRule{})
		dump(t, p)
		if _, err := g.Wait(deadline(t)); err != nil {
			t.Fatal(err)
		}
		p.Close()
	})
	t.Run("Marks", func(t *testing.T) {
		rec := history.NewRecorder()
		_, p := setup(t, wire.Config{Recorder: rec, StreamTables: []string{"shop.orders"}})
		c := dump(t, p)
		for range b.packets {
			if _, err := c.ReadPacket(); err != nil {
				t.Fatal(err)
			}
		}
		type event struct{ kind, change, table, gtid, pos string }
		var got []event
		for _, m := range rec.Marks() {
			if m.Name == history.MarkStreamEvent {
				got = append(got, event{m.Data["kind"], m.Data["change"], m.Data["table"], m.Data["gtid"], m.Data["pos"]})
			}
		}
		events, err := wire.ParseEvents(b.packets)
		if err != nil {
			t.Fatal(err)
		}
		end := func(i int) string { return strconv.FormatUint(events[i].End, 10) }
		want := []event{
			{"rotate", "", "", "", "4"},
			{"rows", "update", "shop.orders", gtid42, end(5)},
			{"rows", "insert", "shop.orders", gtid42, end(6)},
			{"xid", "", "", gtid42, end(7)},
			{"rotate", "", "", "", end(9)},
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(event{})); diff != "" {
			t.Errorf("marks (-want +got):\n%s", diff)
		}
	})
	t.Run("ErrFirst", func(t *testing.T) {
		s := serve(t, 0, answers(map[string][]result{"dump": {{err: "no such file"}}}))
		p := listen(t, s, wire.Config{})
		c := dump(t, p)
		if b, err := c.ReadPacket(); err != nil || b[0] != 0xff {
			t.Errorf("got %q, %v", b, err)
		}
		if err := c.Ping(); err != nil { // the connection takes commands again
			t.Error(err)
		}
		noErr(t, p)
	})
}

// dial opens a bare connection.
func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
