package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// refusal is something that the proxy can't or won't carry.
type refusal struct {
	seq   byte // of the ERR packet that tells the client
	state string
	cause error
}

func (r *refusal) Error() string { return r.cause.Error() }
func (r *refusal) Unwrap() error { return r.cause }

func refuse(seq byte, state string, cause error) error {
	return &refusal{seq: seq, state: state, cause: cause}
}

// refused makes a refusal of an error that a packet reader met, unless the
// connection just ended there.
func refused(err error, seq byte, state string) error {
	if err == nil || isEndOfConn(err) {
		return nil
	}
	return refuse(seq, state, err)
}

// isEndOfConn tells the end of a connection from something unreadable.
func isEndOfConn(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, errEnded) || errors.As(err, &op)
}

// refuse tells the client and the proxy's owner what can't be carried, and
// ends the connection.
func (c *conn) refuse(err error) {
	r := new(refusal)
	if !errors.As(err, &r) {
		return
	}
	c.proxy.fail(fmt.Errorf("connection %d: %w", c.id, r.cause))
	code := uint16(1105) // ER_UNKNOWN_ERROR
	if r.state == "08S01" {
		code = 1043 // ER_HANDSHAKE_ERROR
	}
	// The client may be gone, or not reading: it gets a moment and no more.
	c.client.SetWriteDeadline(time.Now().Add(time.Second))
	if c.toClient(makePacket(r.seq, errPayload(code, r.state, "rowproof proxy: "+r.cause.Error())), true) == nil {
		c.lingerClose()
	}
	c.close()
}

// lingerClose lets the client read the last packet. A plain close with unread
// bytes would reset the connection, and the reset overtakes the packet.
func (c *conn) lingerClose() {
	if tcp, ok := c.client.(*net.TCPConn); ok {
		tcp.CloseWrite()
		tcp.SetReadDeadline(time.Now().Add(time.Second))
		io.Copy(io.Discard, io.LimitReader(tcp, maxHeldReply))
	}
}
