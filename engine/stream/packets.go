package stream

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// packets reads the messages of a server one by one, each as a stream of its
// own: a message can be a gigabyte long, and nobody needs it whole.
type packets struct {
	in     *bufio.Reader
	left   int  // bytes of the current packet that are not read yet
	more   bool // the message goes on in another packet
	inside bool
}

// maxPacket is the length of a packet that is not the last of its message.
const maxPacket = 1<<24 - 1

// readAhead is how much is read at once, and up to what size an event is
// looked at where it lies.
const readAhead = 256 << 10

// whole returns the rest of the message if it is n bytes long and need not
// be read piece by piece. It is valid until the next call.
func (p *packets) whole(n int) []byte {
	if n != p.left || p.more || n > readAhead {
		return nil
	}
	b, err := p.in.Peek(n)
	if err != nil {
		return nil // reading it piece by piece meets the error
	}
	return b
}

func newPackets(conn net.Conn, silence time.Duration) *packets {
	return &packets{in: bufio.NewReaderSize(impatient{conn, silence}, readAhead)}
}

// impatient is a connection that is given up after a time without a byte.
type impatient struct {
	conn    net.Conn
	silence time.Duration
}

func (c impatient) Read(p []byte) (int, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
		return 0, err
	}
	return c.conn.Read(p)
}

// next goes to the next message, past what is left of this one, and returns
// its first byte. An error message of the server is returned as an error.
func (p *packets) next() error {
	if p.inside {
		if err := p.discard(); err != nil {
			return err
		}
	}
	p.inside = true
	if err := p.header(); err != nil {
		return err
	}
	if p.left == 0 {
		return fmt.Errorf("message is empty")
	}
	status, err := p.in.ReadByte()
	if err != nil {
		return unexpected(err)
	}
	p.left--
	switch {
	case status == gomysql.OK_HEADER:
		return nil
	case status == gomysql.EOF_HEADER:
		return io.EOF
	case status != gomysql.ERR_HEADER:
		return fmt.Errorf("message starts with byte %d", status)
	}
	text, err := io.ReadAll(io.LimitReader(p, 1<<16))
	if err != nil || len(text) < 2 {
		return fmt.Errorf("read error message: %w", err)
	}
	refused := &gomysql.MyError{Code: binary.LittleEndian.Uint16(text)}
	text = text[2:]
	if len(text) >= 6 && text[0] == '#' {
		refused.State, text = string(text[1:6]), text[6:]
	}
	refused.Message = string(text)
	return refused
}

// discard goes past what is left of the message.
func (p *packets) discard() error {
	for {
		n, err := p.in.Discard(p.left)
		p.left -= n
		if err != nil {
			return unexpected(err)
		}
		if !p.more {
			return nil
		}
		if err := p.header(); err != nil {
			return unexpected(err)
		}
	}
}

func (p *packets) header() error {
	head, err := p.in.Peek(4)
	if err != nil {
		return err
	}
	p.left = int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	p.more = p.left == maxPacket
	_, err = p.in.Discard(4)
	return err
}

// Read implements io.Reader for the current message.
func (p *packets) Read(b []byte) (int, error) {
	for p.left == 0 {
		if !p.more {
			return 0, io.EOF
		}
		if err := p.header(); err != nil {
			return 0, unexpected(err)
		}
	}
	n, err := p.in.Read(b[:min(len(b), p.left)])
	p.left -= n
	return n, unexpected(err)
}

// unexpected marks an end of the connection inside a message, which must not
// pass for the message's own end.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
