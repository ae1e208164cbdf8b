package wire

import "io"

// What the fuzz tests reach of the parsers.

// ReadPackets reads packets until the first error and returns their payloads.
func ReadPackets(r io.Reader) ([][]byte, error) {
	reader := newPacketReader(r)
	var payloads [][]byte
	for {
		reader.ready()
		p, err := reader.next(nil)
		if err != nil {
			return payloads, err
		}
		payloads = append(payloads, append([]byte(nil), p.payload()...))
	}
}

// MakePacket puts a header before a payload.
func MakePacket(seq byte, payload []byte) []byte { return makePacket(seq, payload) }

// ParseGreeting strikes a greeting in place and returns what was offered.
func ParseGreeting(b []byte) (caps uint32, thread uint32, err error) {
	g, err := strikeGreeting(b)
	return g.caps, g.thread, err
}

// ParseLogin returns the capabilities of both sides.
func ParseLogin(b []byte, server uint32) (uint32, error) { return checkLogin(b, server) }

// ParseCommand returns what a command says.
func ParseCommand(b []byte, caps uint32) (Kind, string, error) {
	q, err := parseCommand(b, caps)
	return q.kind, q.sql, err
}

// ParseReply feeds the packets of a reply to the command b, until it ends. It
// returns how many it took.
func ParseReply(command []byte, caps uint32, packets [][]byte) (Reply, int, error) {
	q, err := parseCommand(command, caps)
	if err != nil {
		return Reply{}, 0, err
	}
	p := replyParser{answer: q.answer, caps: caps, capture: true, binary: q.kind == KindExecute}
	for i, b := range packets {
		got, err := p.packet(b, len(b) == fullPayload)
		if err != nil || got == replyEnds {
			return p.reply, i + 1, err
		}
	}
	return p.reply, len(packets), io.ErrUnexpectedEOF
}

// ParseEvents reads the packets of a binlog stream.
func ParseEvents(packets [][]byte) ([]Event, error) {
	var p eventParser
	var events []Event
	for _, b := range packets {
		if len(b) == 0 || b[0] != 0 {
			break
		}
		e, err := p.event(b, false)
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}
