package wire

import (
	"regexp"
	"strings"
)

// Stream is a binlog stream that a client has open.
type Stream struct {
	ServerThread uint32 // the server's id of the connection
	ServerID     uint32 // what the client calls itself, as a replica has a server id
	UUID         string // likewise; "" if the client gave none
}

// Streams returns the streams that are open now, in order of their
// connections.
func (p *Proxy) Streams() []Stream {
	var streams []Stream
	for _, c := range p.open() {
		if s, ok := c.streams(); ok {
			streams = append(streams, s)
		}
	}
	return streams
}

func (c *conn) streams() (Stream, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stream
	s.ServerThread = c.thread
	return s, c.mode == modeStream && len(c.pending) == 0
}

// maxSettings is the longest statement, in bytes, that is searched for the
// UUID of a replica.
const maxSettings = 1 << 10

var uuidSetting = regexp.MustCompile(`(?i)@(?:replica|slave)_uuid\s*:?=\s*'([^']*)'`)

// replicaUUID returns the UUID that a client gives itself before it asks for
// a stream, or "".
func replicaUUID(sql string) string {
	if len(sql) > maxSettings || !strings.Contains(sql, "_uuid") {
		return ""
	}
	if found := uuidSetting.FindStringSubmatch(sql); found != nil {
		return found[1]
	}
	return ""
}
