package wire

import (
	"bufio"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// mode says what the client's next packet is.
type mode uint8

const (
	modeLogin   mode = iota // a part of the authentication
	modeCommand             // a command
	modeInfile              // data of LOAD DATA LOCAL
	modeStream              // an ACK of the binlog stream
)

// errEnded says that the connection is over, for a reason that is dealt with.
var errEnded = errors.New("connection ended")

// maxHeldReply bounds a reply that is kept back as a whole, in bytes.
const maxHeldReply = 64 << 20

// conn is one client and its server. Two pumps serve it: up alone reads the
// client and writes to the server, down alone reads the server.
type conn struct {
	proxy  *Proxy
	id     uint64
	client net.Conn
	cancel context.CancelFunc // ends a dial

	thread uint32 // the server's id of the connection
	caps   uint32 // what both sides can

	done chan struct{} // closed when the connection ends
	once sync.Once

	writing sync.Mutex // to the client
	out     *bufio.Writer

	mu      sync.Mutex
	ended   bool
	server  net.Conn
	mode    mode
	role    Role
	stream  Stream            // as whom the client asks for the binlog
	status  uint16            // the server's status flags
	stmts   map[uint32]string // text of prepared statements
	pending []*call           // sent and not answered, in order
}

// call is a command on its way.
type call struct {
	command Command
	request request
	parser  replyParser
	lastSeq atomic.Uint32 // of the command's last packet
	done    chan struct{} // closed when the reply has been delivered
}

func newConn(p *Proxy, id uint64, client net.Conn, cancel context.CancelFunc) *conn {
	return &conn{
		proxy: p, id: id, client: client, cancel: cancel,
		done:  make(chan struct{}),
		out:   bufio.NewWriterSize(client, 64<<10),
		role:  SQL,
		stmts: make(map[uint32]string),
	}
}

// close ends both sides. It may be called at any time, by anyone.
func (c *conn) close() {
	c.once.Do(func() {
		close(c.done)
		c.cancel()
		c.client.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
		if c.server != nil {
			c.server.Close()
		}
	})
}

// run serves the connection to its end.
func (c *conn) run(ctx context.Context) {
	defer c.close()
	server, err := c.dial(ctx)
	if err != nil {
		// A server that is down is a fault like any other; a client without a
		// proxy would not get a MySQL error for it either.
		c.proxy.record.connectFailed(c.id, err)
		return
	}
	fromServer, fromClient := newPacketReader(server), newPacketReader(c.client)
	switch ok, err := c.greet(server, fromServer, fromClient); {
	case err != nil:
		c.refuse(err)
		return
	case !ok:
		return
	}
	var pumps sync.WaitGroup
	pumps.Go(func() {
		defer c.close()
		c.end(c.up(server, fromClient))
	})
	pumps.Go(func() {
		defer c.close()
		c.end(c.down(fromServer))
	})
	pumps.Wait()
}

// end notes why a pump stopped, unless the connection simply ended.
func (c *conn) end(err error) {
	if refused := new(refusal); errors.As(err, &refused) {
		c.refuse(refused)
	}
}

func (c *conn) dial(ctx context.Context) (net.Conn, error) {
	server, err := new(net.Dialer).DialContext(ctx, "tcp", c.proxy.config.Upstream)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		server.Close()
		return nil, errEnded
	}
	c.server = server
	return server, nil
}

// greet carries the greeting and the client's answer to it. It returns false
// if the connection ended, or was turned down by the server, in between.
func (c *conn) greet(server net.Conn, fromServer, fromClient *packetReader) (bool, error) {
	p, err := fromServer.next(checkHandshakeHeader(0))
	if err != nil {
		return false, refused(err, 0, "08S01")
	}
	if p.payload()[0] == 0xff { // "too many connections" and the like
		return false, c.toClient(p, true)
	}
	g, err := strikeGreeting(p.payload())
	if err != nil {
		return false, refuse(0, "", err)
	}
	c.thread = g.thread
	if err := c.toClient(p, true); err != nil {
		return false, nil
	}
	if p, err = fromClient.next(checkHandshakeHeader(1)); err != nil {
		return false, refused(err, 2, "08S01")
	}
	if c.caps, err = checkLogin(p.payload(), g.caps); err != nil {
		return false, refuse(p.seq()+1, "08S01", err)
	}
	if _, err := server.Write(p); err != nil {
		return false, nil
	}
	return true, nil
}

// toClient writes one packet to the client.
func (c *conn) toClient(b []byte, flush bool) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(b); err != nil {
		return err
	}
	if flush {
		return c.out.Flush()
	}
	return nil
}

func (c *conn) setMode(m mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
}

func (c *conn) currentMode() mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}

// sent puts a command in flight. This comes before its first byte is written,
// so that the reply always finds it.
func (c *conn) sent(k *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.command.Sent = time.Now()
	c.pending = append(c.pending, k)
	switch k.request.answer {
	case answerStream:
		c.mode = modeStream
	case answerLogin:
		c.mode = modeLogin
	}
}

// head returns the command that the server's next packet belongs to, or nil.
func (c *conn) head() *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		return nil
	}
	return c.pending[0]
}

// last returns the youngest command in flight, or nil.
func (c *conn) last() *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		return nil
	}
	return c.pending[len(c.pending)-1]
}

// answered takes the oldest command out of flight and keeps what its reply
// taught.
func (c *conn) answered(k *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = slices.Delete(c.pending, 0, 1)
	ok := k.parser.reply.Err == nil
	if k.parser.status != 0 {
		c.status = k.parser.status
	}
	switch {
	case k.request.kind == KindPrepare && ok:
		c.stmts[k.parser.stmt] = k.request.sql
	case (k.request.kind == KindReset || k.request.kind == KindUser) && ok:
		clear(c.stmts) // the server has closed them
	}
	if k.request.answer == answerLogin || k.request.answer == answerStream && !ok {
		c.mode = modeCommand
	}
}

func (c *conn) inFlight() []Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	commands := make([]Command, 0, len(c.pending))
	for _, k := range c.pending {
		commands = append(commands, k.command)
	}
	return commands
}

// hold keeps its caller until the gate lets go. It returns errEnded if the
// connection ended first.
func (c *conn) hold(g *Gate, h Hit) error {
	c.proxy.record.held(h)
	g.report(h)
	select {
	case <-g.released:
		c.proxy.record.released(h, "")
		return nil
	case <-c.done:
		c.proxy.record.released(h, "the connection ended")
		return errEnded
	}
}
