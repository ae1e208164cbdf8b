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

func newPackets(conn net.Conn, silence time.Duration) *packets {
	return &packets{in: bufio.NewReaderSize(impatient{conn, silence}, 64<<10)}
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
		if _, err := io.Copy(io.Discard, p); err != nil {
			return err
		}
	}
	p.inside = true
	if err := p.header(); err != nil {
		return err
	}
	var status [1]byte
	if _, err := io.ReadFull(p, status[:]); err != nil {
		return err
	}
	switch {
	case status[0] == gomysql.OK_HEADER:
		return nil
	case status[0] == gomysql.EOF_HEADER:
		return io.EOF
	case status[0] != gomysql.ERR_HEADER:
		return fmt.Errorf("message starts with byte %d", status[0])
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
