package stream

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// window is how much of an event is held at once. No value that is looked at
// is longer: a key has at most 3072 bytes.
const window = 64 << 10

// cursor reads one event from its beginning to its end. After the first
// error it yields zeros, so that err need be asked for but once per row.
type cursor struct {
	in   *bufio.Reader // nil if whole holds what is left
	left int64         // bytes to the event's end
	err  error

	whole []byte
}

// take returns the next n bytes, which stay as they are until the next call.
func (c *cursor) take(n int) []byte {
	if !c.has(int64(n)) || n > window {
		c.fail(fmt.Errorf("value of %d bytes, with %d left in the event", n, c.left))
		return make([]byte, max(0, min(n, window)))
	}
	c.left -= int64(n)
	if c.in == nil {
		b := c.whole[:n]
		c.whole = c.whole[n:]
		return b
	}
	b, err := c.in.Peek(n)
	if err != nil {
		c.fail(unexpected(err))
		return make([]byte, n)
	}
	_, _ = c.in.Discard(n) // it has just been seen
	return b
}

// skip goes on without looking.
func (c *cursor) skip(n int64) {
	if !c.has(n) {
		c.fail(fmt.Errorf("value of %d bytes, with %d left in the event", n, c.left))
		return
	}
	c.left -= n
	if c.in == nil {
		c.whole = c.whole[n:]
		return
	}
	for n > 0 {
		done, err := c.in.Discard(int(min(n, 1<<30)))
		if n -= int64(done); err != nil {
			c.fail(unexpected(err))
			return
		}
	}
}

// copied returns the next n bytes for good. It is for text, which is longer
// than values are.
func (c *cursor) copied(n int64) []byte {
	if !c.has(n) {
		c.fail(fmt.Errorf("text of %d bytes, with %d left in the event", n, c.left))
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		c.fail(unexpected(err))
	}
	return b
}

// Read implements io.Reader for the rest of the event.
func (c *cursor) Read(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if c.left == 0 {
		return 0, io.EOF
	}
	if c.in == nil {
		n := copy(b, c.whole)
		c.whole, c.left = c.whole[n:], c.left-int64(n)
		return n, nil
	}
	n, err := c.in.Read(b[:min(int64(len(b)), c.left)])
	c.left -= int64(n)
	return n, unexpected(err)
}

func (c *cursor) has(n int64) bool { return c.err == nil && n >= 0 && n <= c.left }

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// number reads an unsigned integer of n bytes, the least significant first.
func (c *cursor) number(n int) uint64 {
	var wide [8]byte
	copy(wide[:], c.take(n))
	return binary.LittleEndian.Uint64(wide[:])
}

// big reads an unsigned integer of n bytes, the most significant first.
func (c *cursor) big(n int) uint64 {
	var wide [8]byte
	copy(wide[8-n:], c.take(n))
	return binary.BigEndian.Uint64(wide[:])
}

// length reads an integer whose first byte tells how long it is.
func (c *cursor) length() uint64 {
	switch first := c.number(1); first {
	case 0xfc:
		return c.number(2)
	case 0xfd:
		return c.number(3)
	case 0xfe:
		return c.number(8)
	default:
		return first
	}
}
