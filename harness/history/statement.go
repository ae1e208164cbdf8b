package history

import "time"

// Statement is one command that the subject sent over one of its connections.
type Statement struct {
	Time      time.Time `json:"time"`
	Conn      uint64    `json:"conn"`   // the proxy's number of the connection, from 1
	Thread    uint32    `json:"thread"` // the server's number of it
	Kind      string    `json:"kind"`   // query, prepare, execute, dump, connect, …
	SQL       string    `json:"sql,omitempty"`
	Step      string    `json:"step,omitempty"`      // "" where the phrasebook knows none
	Swallowed bool      `json:"swallowed,omitempty"` // the server never saw it
	Error     string    `json:"error,omitempty"`     // connect: why it found no server
}
