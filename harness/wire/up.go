package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// up carries the client's packets to the server until one of them leaves.
func (c *conn) up(server net.Conn, client *packetReader) error {
	continued := false // the next packet goes on with data before it
	for {
		p, err := client.next(c.checkCommandHeader)
		if err != nil {
			return c.unreadable(err)
		}
		mode, full := c.currentMode(), p.full()
		if mode == modeCommand {
			if err := c.command(p, server, client); err != nil {
				return err
			}
			continue
		}
		if mode == modeInfile && len(p.payload()) == 0 && !continued {
			// The end of the data. The mode changes first: the server's answer
			// may come at once, and the next command behind it.
			c.setMode(modeCommand)
		}
		if _, err := server.Write(p); err != nil {
			return err
		}
		continued = full
	}
}

// checkCommandHeader refuses what is no command: these start a count anew.
// It runs when the packet arrives, not when the wait for it begins: the mode
// may have changed in between.
func (c *conn) checkCommandHeader(length int, seq byte) error {
	if c.currentMode() == modeCommand && (seq != 0 || length == 0) {
		return fmt.Errorf("not the MySQL protocol: a command of %d bytes with packet number %d, want number 0", length, seq)
	}
	return nil
}

// unreadable turns a reader's error into a refusal, once the client has all
// replies that it waits for.
func (c *conn) unreadable(err error) error {
	if isEndOfConn(err) {
		return err
	}
	if err := c.drained(); err != nil {
		return err
	}
	return refuse(1, "HY000", err)
}

// drained waits until every command in flight is answered.
func (c *conn) drained() error {
	for k := c.last(); k != nil; k = c.last() {
		select {
		case <-k.done:
		case <-c.done:
			return errEnded
		}
	}
	return nil
}

// command carries one command, of which p is the first packet, with all that
// gates do to it before the server sees it.
func (c *conn) command(p packet, server net.Conn, client *packetReader) error {
	q, err := parseCommand(p.payload(), c.caps)
	if err != nil {
		if err := c.drained(); err != nil {
			return err
		}
		return refuse(p.seq()+1, "HY000", err)
	}
	k := c.newCall(q, p)
	var observers []*Gate
	var acting []*Gate
	for _, g := range c.proxy.commandGates(Before, k.command) {
		if g.rule.Action == Observe {
			observers = append(observers, g)
		} else {
			acting = append(acting, g)
		}
	}
	for _, claim := range claims(acting) {
		g := claim.gate
		if !g.acts() {
			continue // it went while another one held the command
		}
		h := Hit{Gate: g.rule.Name, Occurrence: claim.occurrence, Command: k.command}
		switch g.rule.Action {
		case Hold:
			if err := c.holdClient(g, h, client); err != nil {
				return err
			}
		case Swallow:
			g.report(h)
			return c.swallow(k, p, client)
		default: // a cut
			c.close()
			g.report(h)
			return errEnded
		}
	}
	return c.send(k, p, server, client, observers)
}

func (c *conn) newCall(q request, p packet) *call {
	c.mu.Lock()
	switch q.kind {
	case KindDump:
		c.role = Binlog
		c.stream.ServerID = q.server
	case KindQuery:
		if uuid := replicaUUID(q.sql); uuid != "" {
			c.stream.UUID = uuid
		}
	case KindExecute, KindFetch, KindLongData:
		q.sql = c.stmts[q.stmt]
	case KindClose:
		q.sql = c.stmts[q.stmt]
		delete(c.stmts, q.stmt)
	}
	role := c.role
	c.mu.Unlock()
	k := &call{
		request: q,
		command: Command{Conn: c.id, ServerThread: c.thread, Role: role, Kind: q.kind, SQL: q.sql},
		done:    make(chan struct{}),
	}
	k.lastSeq.Store(uint32(p.seq()))
	k.command.Step = c.proxy.config.Phrasebook.Step(q.kind, q.sql)
	k.command.StepOccurrence = c.proxy.countStep(k.command.Step)
	k.parser = replyParser{
		answer:  q.answer,
		caps:    c.caps,
		binary:  q.kind == KindExecute,
		capture: k.command.Step != "",
	}
	return k
}

// send lets the server see a command.
func (c *conn) send(k *call, p packet, server net.Conn, client *packetReader, observers []*Gate) error {
	c.proxy.record.statement(k.command, false)
	c.proxy.record.stepSent(k.command)
	if k.request.answer != answerNone {
		c.sent(k)
	}
	for _, claim := range claims(observers) {
		if claim.gate.acts() {
			claim.gate.report(Hit{Occurrence: claim.occurrence, Command: k.command})
		}
	}
	for {
		full, seq := p.full(), p.seq()
		if _, err := server.Write(p); err != nil {
			return err
		}
		if !full {
			return nil
		}
		var err error
		if p, err = client.next(nil); err != nil {
			return err
		}
		k.lastSeq.Store(uint32(p.seq()))
		if p.seq() != seq+1 {
			return refuse(p.seq()+1, "HY000", fmt.Errorf("not the MySQL protocol: packet number %d follows %d", p.seq(), seq))
		}
	}
}

// swallow answers OK in the server's place.
func (c *conn) swallow(k *call, p packet, client *packetReader) error {
	c.proxy.record.statement(k.command, true)
	seq := p.seq()
	for p.full() {
		var err error
		if p, err = client.next(nil); err != nil {
			return err
		}
		seq = p.seq()
	}
	if k.request.answer == answerNone {
		return nil
	}
	if err := c.drained(); err != nil {
		return err
	}
	c.mu.Lock()
	status := c.status &^ (statusMoreResults | statusCursor)
	c.mu.Unlock()
	return c.toClient(makePacket(seq+1, okPayload(status)), true)
}

// holdClient holds a command, and watches the client meanwhile: a client that
// leaves ends the hold.
func (c *conn) holdClient(g *Gate, h Hit, client *packetReader) error {
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(client)
	}()
	err := c.hold(g, h)
	c.client.SetReadDeadline(time.Unix(1, 0)) // wakes the watcher
	<-watched
	c.client.SetReadDeadline(time.Time{})
	// The watcher may have been woken between the client's end and its look: a
	// tool that is killed under the hold must not do what it was held before.
	if err == nil && hasLeft(c.client) {
		c.close()
		err = errEnded
	}
	return err
}

// watch waits for the client to leave, and then closes the connection. What
// the client sends meanwhile stays in the buffer; where that is full the
// watch ends, and the client's end shows after the hold.
func (c *conn) watch(client *packetReader) {
	for {
		_, err := client.r.Peek(client.r.Buffered() + 1)
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return
		case isEndOfConn(err):
			c.close()
			return
		default: // the buffer is full
			return
		}
	}
}
