package wire

import (
	"bytes"
	"errors"
	"fmt"
)

// downState is where the server's side of a connection stands.
type downState struct {
	call      *call         // whose reply is being read
	gates     []awaited     // what acts on it once it is whole
	open      []awaited     // Committed gates that wait for the end of a transaction
	kept      *bytes.Buffer // its packets, if a gate keeps them back
	continued bool          // the next packet goes on with the message before
	streaming *call         // the dump whose events are coming
	events    eventParser
	marks     streamMarks
	firstSeq  byte // of the reply
	nextSeq   byte // the packet number that must come
	anySeq    bool // the client has packets of its own in between
}

// awaited is a gate that acts on a command when its reply has come, or its
// transaction has ended.
type awaited struct {
	gateClaim
	command Command
}

// down carries the server's packets to the client until one of them leaves.
func (c *conn) down(server *packetReader) error {
	if err := c.login(server); err != nil {
		return err
	}
	s := new(downState)
	for {
		p, err := server.next(nil)
		if err != nil {
			return err // the server left; whatever came before it is flushed
		}
		full := p.full()
		switch {
		case s.continued:
			err = c.pass(s, p, !server.ready())
		case s.streaming != nil:
			err = c.event(s, p, !server.ready())
		default:
			err = c.replyPacket(s, p, !server.ready())
		}
		if err != nil {
			return err
		}
		s.continued = full
		s.nextSeq = p.seq() + 1
	}
}

// login carries the authentication to its end.
func (c *conn) login(server *packetReader) error {
	for seq := byte(2); ; {
		p, err := server.next(func(length int, got byte) error {
			if length == 0 || length > maxHandshake {
				return fmt.Errorf("not the MySQL protocol: a login packet of %d bytes", length)
			}
			seq = got
			return nil
		})
		if isEndOfConn(err) {
			return err
		}
		if err != nil {
			return refuse(seq+1, "HY000", err)
		}
		if p.payload()[0] == 0 { // before the client can send a command
			if _, status, err := parseOK(p.payload()); err == nil {
				c.mu.Lock()
				c.status = status
				c.mu.Unlock()
			}
			c.setMode(modeCommand)
			return c.toClient(p, true)
		}
		if err := c.toClient(p, true); err != nil {
			return err
		}
		if p.payload()[0] == 0xff {
			return errEnded
		}
	}
}

// pass delivers a packet, or keeps it back with the rest of its reply.
func (c *conn) pass(s *downState, p packet, flush bool) error {
	if s.kept == nil {
		return c.toClient(p, flush)
	}
	if s.kept.Len()+len(p) > maxHeldReply {
		return s.refuse(fmt.Errorf("hold reply: it is over %d MiB", maxHeldReply>>20))
	}
	s.kept.Write(p)
	return nil
}

// refuse gives up on what the server sent. The client gets the ERR with the
// number of the next packet that it has not seen.
func (s *downState) refuse(cause error) error {
	if s.kept != nil {
		return refuse(s.firstSeq, "HY000", cause)
	}
	return refuse(s.nextSeq, "HY000", cause)
}

// letGo delivers what was kept back.
func (c *conn) letGo(s *downState, flush bool) error {
	if s.kept == nil {
		return nil
	}
	kept := s.kept.Bytes()
	s.kept = nil
	return c.toClient(kept, flush)
}

// replyPacket takes the first packet of a message that belongs to a reply.
func (c *conn) replyPacket(s *downState, p packet, flush bool) error {
	if s.call == nil {
		c.beginReply(s)
	}
	if s.call == nil { // nobody asked: the server says why it hangs up
		return c.toClient(p, true)
	}
	if p.seq() != s.nextSeq && !s.anySeq && !isErr(p) {
		return s.refuse(fmt.Errorf("read reply: packet number %d, want %d", p.seq(), s.nextSeq))
	}
	got, err := s.call.parser.packet(p.payload(), p.full())
	if err != nil {
		return s.refuse(err)
	}
	switch got {
	case replyEnds:
		return c.endReply(s, p)
	case replyStreams:
		s.streaming = s.call
		s.events = eventParser{}
		return c.endReply(s, p)
	case replyAsks, replyInfile:
		s.anySeq = true
		if got == replyInfile {
			c.setMode(modeInfile)
		}
		if err := c.letGo(s, false); err != nil {
			return err
		}
		return c.toClient(p, true)
	default:
		return c.pass(s, p, flush)
	}
}

// beginReply finds the command that a reply belongs to, and the gates that
// want the whole of it.
func (c *conn) beginReply(s *downState) {
	k := c.head()
	if k == nil {
		return
	}
	s.call, s.gates, s.kept = k, nil, nil
	s.firstSeq = byte(k.lastSeq.Load()) + 1
	s.nextSeq, s.anySeq = s.firstSeq, false
	s.gates = s.open
	for _, phase := range []Phase{After, Committed} {
		for _, claim := range claims(c.proxy.commandGates(phase, k.command)) {
			s.gates = append(s.gates, awaited{claim, k.command})
		}
	}
	s.open = nil
	for _, g := range s.gates {
		k.parser.capture = true
		if g.gate.rule.Action != Observe && k.request.answer != answerStream {
			s.kept = new(bytes.Buffer)
		}
	}
}

// endReply does what gates ask once the whole reply is here, and only then
// lets the client see its last packet.
func (c *conn) endReply(s *downState, p packet) error {
	k, gates := s.call, s.gates
	s.call, s.gates = nil, nil
	if k.parser.status&statusInTransaction != 0 {
		gates, s.open = split(gates)
	}
	reply := k.parser.reply
	c.answered(k)
	defer close(k.done)
	c.proxy.record.stepReplied(k.command, reply)
	for _, held := range []bool{false, true} { // observers first: nothing delays them
		for _, g := range gates {
			if held != (g.gate.rule.Action != Observe) || !g.gate.acts() {
				continue
			}
			h := Hit{Gate: g.gate.rule.Name, Occurrence: g.occurrence, Command: g.command, Reply: &reply}
			switch g.gate.rule.Action {
			case Observe:
				g.gate.report(h)
			case Hold:
				if err := c.hold(g.gate, h); err != nil {
					return err
				}
			default: // a cut
				c.close()
				g.gate.report(h)
				return errEnded
			}
		}
	}
	if s.streaming != nil {
		return c.event(s, p, true)
	}
	if err := c.letGo(s, false); err != nil {
		return err
	}
	return c.toClient(p, true)
}

// split parts the gates that act on a reply from those that wait for the end
// of the transaction that it tells of.
func split(gates []awaited) (now, later []awaited) {
	for _, g := range gates {
		if g.gate.rule.phase() == Committed {
			later = append(later, g)
		} else {
			now = append(now, g)
		}
	}
	return now, later
}

// event takes the first packet of an event, or of the end of the stream.
func (c *conn) event(s *downState, p packet, flush bool) error {
	b := p.payload()
	if len(b) == 0 {
		return s.refuse(errors.New("read event: a packet is empty"))
	}
	if b[0] != 0 { // EOF or ERR: the stream is over, the connection may not be
		s.streaming = nil
		c.setMode(modeCommand)
		return c.toClient(p, true)
	}
	e, err := s.events.event(b, p.full())
	if err != nil {
		return s.refuse(err)
	}
	dump := s.streaming.command
	for _, claim := range claims(c.proxy.eventGates(e)) {
		g := claim.gate
		if !g.acts() {
			continue // it went while another one held the event
		}
		h := Hit{Gate: g.rule.Name, Occurrence: claim.occurrence, Command: dump, Event: &e}
		switch g.rule.Action {
		case Observe:
			g.report(h)
		case Hold:
			if err := c.flush(); err != nil { // what came before is not held
				return err
			}
			if err := c.hold(g, h); err != nil {
				return err
			}
		default: // a cut
			if err := c.flush(); err != nil {
				return err
			}
			c.close()
			g.report(h)
			return errEnded
		}
	}
	c.proxy.record.streamEvent(&s.marks, dump, e)
	return c.toClient(p, flush)
}

func isErr(p packet) bool { return len(p.payload()) > 0 && p.payload()[0] == 0xff }

func (c *conn) flush() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.out.Flush()
}
