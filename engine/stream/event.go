package stream

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/go-mysql-org/go-mysql/replication"
	"github.com/klauspost/compress/zstd"
)

// header is what each event begins with.
type header struct {
	at   uint32 // seconds since 1970
	kind replication.EventType
	size uint32 // of the whole event
	end  uint32 // where it ends in its file, modulo 2^32; 0 if it does not stand there
}

const (
	headerSize   = replication.EventHeaderSize
	checksumSize = replication.BinlogChecksumLength
)

func newHeader(b []byte) header {
	return header{
		at: binary.LittleEndian.Uint32(b), kind: replication.EventType(b[4]),
		size: binary.LittleEndian.Uint32(b[9:]), end: binary.LittleEndian.Uint32(b[13:]),
	}
}

// begin is where the event begins in its file.
func (h header) begin() uint32 { return h.end - h.size }

// events reads the events that come over one connection.
type events struct {
	packets *packets
	summed  bool // events end in a checksum
	known   bool // a format description has told so
	sum     hash.Hash32
	window  *bufio.Reader
	inflate *zstd.Decoder // of compressed transactions
	inner   *bufio.Reader

	head   [headerSize]byte // of the event that is being read
	cursor cursor           // of a small one
}

func newEvents(p *packets) *events {
	return &events{packets: p, sum: crc32.NewIEEE(), window: bufio.NewReaderSize(nil, window)}
}

func (s *events) close() {
	if s.inflate != nil {
		s.inflate.Close()
	}
}

// next reads one event through handle, which need not read all of it.
//
// The checksum is compared after that. A wrong one can't have done harm: a
// key that did not change is brought up to date for nothing, and the error
// makes the whole transaction come again.
func (s *events) next(handle func(header, *cursor) error) error {
	if err := s.packets.next(); err != nil {
		return err
	}
	if s.known {
		if head, err := s.packets.in.Peek(headerSize); err == nil {
			if h := newHeader(head); h.kind != replication.FORMAT_DESCRIPTION_EVENT {
				if event := s.packets.whole(int(h.size)); event != nil {
					return s.small(h, event, handle)
				}
			}
		}
	}
	head := s.head[:]
	if _, err := io.ReadFull(s.packets, head); err != nil {
		return unexpected(err)
	}
	h := newHeader(head)
	body := int64(h.size) - headerSize
	if h.kind == replication.FORMAT_DESCRIPTION_EVENT || !s.known {
		return s.opening(h, head, body, handle)
	}
	if s.summed {
		body -= checksumSize
	}
	if body < 0 {
		return fmt.Errorf("event of %d bytes", h.size)
	}
	from := io.Reader(s.packets)
	if s.summed {
		s.sum.Reset()
		s.sum.Write(head)
		from = io.TeeReader(s.packets, s.sum)
	}
	s.window.Reset(io.LimitReader(from, body))
	c := &cursor{in: s.window, left: body}
	if err := handle(h, c); err != nil {
		return err
	}
	if c.skip(c.left); c.err != nil {
		return c.err
	}
	if !s.summed {
		return nil
	}
	var want [checksumSize]byte
	if _, err := io.ReadFull(s.packets, want[:]); err != nil {
		return unexpected(err)
	}
	if s.sum.Sum32() != binary.LittleEndian.Uint32(want[:]) {
		return errChecksum
	}
	return nil
}

// small reads an event that is there as a whole.
func (s *events) small(h header, event []byte, handle func(header, *cursor) error) error {
	if s.summed {
		cut := len(event) - checksumSize
		if cut < headerSize || crc32.ChecksumIEEE(event[:cut]) != binary.LittleEndian.Uint32(event[cut:]) {
			return errChecksum
		}
		event = event[:cut]
	}
	s.cursor = cursor{whole: event[headerSize:], left: int64(len(event) - headerSize)}
	if err := handle(h, &s.cursor); err != nil {
		return err
	}
	return s.cursor.err
}

var errChecksum = fmt.Errorf("event was damaged: %w", replication.ErrChecksumMismatch)

// opening reads a format description, which says whether events have
// checksums, or what comes before the first, which may have one or not.
func (s *events) opening(h header, head []byte, body int64, handle func(header, *cursor) error) error {
	const plenty = 64 << 10
	if body < 0 || body > plenty {
		return fmt.Errorf("event of type %d with %d bytes before a format description", h.kind, h.size)
	}
	data := make([]byte, body)
	if _, err := io.ReadFull(s.packets, data); err != nil {
		return unexpected(err)
	}
	cut := len(data) - checksumSize
	right := cut > 0 && crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, data[:cut]) == binary.LittleEndian.Uint32(data[cut:])
	if h.kind == replication.FORMAT_DESCRIPTION_EVENT {
		if cut < 1 {
			return fmt.Errorf("format description of %d bytes", h.size)
		}
		s.known, s.summed = true, replication.BinlogChecksum(data[cut-1]) == replication.BINLOG_CHECKSUM_ALG_CRC32
		if s.summed && !right {
			return errChecksum
		}
		right = true // the place for a checksum is there in any case
	}
	if right {
		data = data[:cut]
	}
	s.window.Reset(bytes.NewReader(data))
	return handle(h, &cursor{in: s.window, left: int64(len(data))})
}

// maxZstdWindow is how far back a compressed transaction may refer: what a
// decoder must keep. Up to compression level 19 it is 8 MiB.
const maxZstdWindow = 32 << 20

// transaction reads the events of a compressed transaction one by one. It
// is never held as a whole, neither compressed nor not.
func (s *events) transaction(c *cursor, handle func(header, *cursor) error) error {
	const (
		endOfFields     = 0
		compressionType = 2
		none            = 255
	)
	compression := uint64(none)
	for kind := c.length(); kind != endOfFields && c.err == nil; kind = c.length() {
		size := int64(c.length())
		before := c.left
		if kind == compressionType {
			compression = c.length()
		}
		c.skip(size - (before - c.left))
	}
	if c.err != nil {
		return c.err
	}
	from := io.Reader(c)
	switch compression {
	case replication.ZSTD:
		if err := s.reset(c); err != nil {
			return err
		}
		from = s.inflate
	case none:
	default:
		return fmt.Errorf("transaction is compressed in an unknown way (%d)", compression)
	}
	if s.inner == nil {
		s.inner = bufio.NewReaderSize(nil, window)
	}
	s.inner.Reset(from)
	for {
		head, err := s.inner.Peek(headerSize)
		if err == io.EOF && len(head) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read compressed transaction: %w", unexpected(err))
		}
		h := newHeader(head)
		_, _ = s.inner.Discard(headerSize)
		in := &cursor{in: s.inner, left: int64(h.size) - headerSize}
		if err := handle(h, in); err != nil {
			return err
		}
		if in.skip(in.left); in.err != nil {
			return fmt.Errorf("read compressed transaction: %w", in.err)
		}
	}
}

func (s *events) reset(from io.Reader) (err error) {
	if s.inflate != nil {
		return s.inflate.Reset(from)
	}
	s.inflate, err = zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	return err
}
