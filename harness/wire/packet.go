package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	headerSize  = 4
	fullPayload = 1<<24 - 1 // a payload of this length is continued in the next packet
	keepBuffer  = 1 << 20   // a packet buffer that grew beyond this is not kept
)

// errShort says that a packet ends before its fields do.
var errShort = errors.New("packet ends too early")

// packet is one packet as it was read: header and payload. A message over
// 16 MiB is several packets. It is valid until its reader reads again.
type packet []byte

func (p packet) seq() byte       { return p[3] }
func (p packet) payload() []byte { return p[headerSize:] }

// full reports whether the next packet continues this one's message.
func (p packet) full() bool { return len(p)-headerSize == fullPayload }

// packetReader splits one direction of a connection into packets. Its memory
// is bounded by the largest packet, 16 MiB.
type packetReader struct {
	r   *bufio.Reader
	buf []byte
}

func newPacketReader(r io.Reader) *packetReader {
	return &packetReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next reads one packet. check may refuse it by its header, before the
// payload is waited for: bytes that are no MySQL protocol announce absurd
// lengths, and waiting for these would be a silent stall.
func (r *packetReader) next(check func(length int, seq byte) error) (packet, error) {
	header, err := r.r.Peek(headerSize)
	if err != nil {
		if err == io.EOF && len(header) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	length := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
	if check != nil {
		if err := check(length, header[3]); err != nil {
			return nil, err
		}
	}
	if cap(r.buf) > keepBuffer && length+headerSize <= keepBuffer {
		r.buf = nil
	}
	if r.buf, err = readFull(r.r, r.buf[:0], headerSize+length); err != nil {
		return nil, err
	}
	return r.buf, nil
}

// readFull reads n bytes into buf. The buffer grows with what has arrived, so
// that a peer has to send bytes to make us allocate them.
func readFull(r io.Reader, buf []byte, n int) ([]byte, error) {
	for len(buf) < n {
		have := len(buf)
		want := min(n, max(have*2, 64<<10))
		if cap(buf) < want {
			grown := make([]byte, have, want)
			copy(grown, buf)
			buf = grown
		}
		buf = buf[:want]
		if _, err := io.ReadFull(r, buf[have:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return buf, nil
}

// ready reports whether the next packet can be read without waiting.
func (r *packetReader) ready() bool {
	n := r.r.Buffered()
	if n < headerSize {
		return false
	}
	header, err := r.r.Peek(headerSize)
	if err != nil {
		return false
	}
	return n >= headerSize+(int(header[0])|int(header[1])<<8|int(header[2])<<16)
}

// makePacket puts a header before a payload, which must be below 16 MiB.
func makePacket(seq byte, payload []byte) packet {
	n := len(payload)
	return append(packet{byte(n), byte(n >> 8), byte(n >> 16), seq}, payload...)
}

// okPayload is an OK without affected rows.
func okPayload(status uint16) []byte {
	return binary.LittleEndian.AppendUint16([]byte{0, 0, 0}, status)[:5:5]
}

// errPayload is an ERR of the proxy itself. Before the handshake is through,
// an ERR carries no SQLSTATE.
func errPayload(code uint16, state, text string) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{0xff}, code)
	if state != "" {
		b = append(append(b, '#'), state...)
	}
	return append(b, text...)
}

// parseErr reads an ERR payload.
func parseErr(b []byte) *ServerError {
	f := fields{b: b}
	f.skip(1)
	e := &ServerError{Code: uint16(f.uint(2)), State: "HY000"}
	if len(f.b) >= 6 && f.b[0] == '#' {
		e.State = string(f.b[1:6])
		f.skip(6)
	}
	e.Message = string(f.b)
	return e
}

// parseOK reads the head of an OK payload, also one that stands where an EOF
// stood in older protocols.
func parseOK(b []byte) (affected uint64, status uint16, err error) {
	f := fields{b: b}
	f.skip(1)
	affected = f.lenenc()
	f.lenenc() // last insert id
	status = uint16(f.uint(2))
	return affected, status, f.err
}

// fields takes a payload apart. After the first error every read gives zero.
type fields struct {
	b   []byte
	err error
}

func (f *fields) take(n int) []byte {
	if f.err != nil || n < 0 || n > len(f.b) {
		f.b = nil
		if f.err == nil {
			f.err = errShort
		}
		return nil
	}
	b := f.b[:n]
	f.b = f.b[n:]
	return b
}

func (f *fields) skip(n int) { f.take(n) }

// uint reads n bytes, low byte first.
func (f *fields) uint(n int) uint64 {
	var v uint64
	for i, c := range f.take(n) {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// lenenc reads a length-encoded integer.
func (f *fields) lenenc() uint64 {
	switch c := f.uint(1); c {
	case 0xfc:
		return f.uint(2)
	case 0xfd:
		return f.uint(3)
	case 0xfe:
		return f.uint(8)
	case 0xfb, 0xff:
		if f.err == nil {
			f.err = fmt.Errorf("0x%02x is no length", c)
			f.b = nil
		}
		return 0
	default:
		return c
	}
}

// bytes reads a length and that many bytes.
func (f *fields) bytes() []byte {
	n := f.lenenc()
	if n > uint64(len(f.b)) {
		return f.take(-1)
	}
	return f.take(int(n))
}

// cstring reads up to a zero byte.
func (f *fields) cstring() string {
	for i, c := range f.b {
		if c == 0 {
			return string(f.take(i + 1)[:i])
		}
	}
	f.take(-1)
	return ""
}
