package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Capability flags.
const (
	capCompress        = 1 << 5
	capProtocol41      = 1 << 9
	capSSL             = 1 << 11
	capOptionalMeta    = 1 << 25 // CLIENT_OPTIONAL_RESULTSET_METADATA
	capDeprecateEOF    = 1 << 24
	capZstd            = 1 << 26
	capQueryAttributes = 1 << 27

	// capStruck is what the proxy strikes out of the greeting. Query
	// attributes must stay: libmysqlclient claims them in any case, and then
	// leaves out their header if the greeting had none.
	capStruck = capCompress | capSSL | capZstd
)

// maxHandshake bounds a packet of the handshake, in bytes.
const maxHandshake = 64 << 10

// greeting is what the proxy wants of the server's first packet.
type greeting struct {
	thread uint32
	caps   uint32 // as the server offers them
}

// strikeGreeting reads the server's first packet and strikes TLS and
// compression out of it, in place.
func strikeGreeting(b []byte) (greeting, error) {
	if len(b) == 0 || b[0] != 10 {
		return greeting{}, errors.New("read greeting: the server does not speak protocol version 10")
	}
	f := fields{b: b}
	f.skip(1)
	f.cstring() // version
	g := greeting{thread: uint32(f.uint(4))}
	f.skip(8 + 1)
	low := f.take(2)
	f.skip(1 + 2)
	high := f.take(2)
	if f.err != nil {
		return greeting{}, fmt.Errorf("read greeting: %w", f.err)
	}
	g.caps = uint32(binary.LittleEndian.Uint16(low)) | uint32(binary.LittleEndian.Uint16(high))<<16
	kept := g.caps &^ capStruck
	binary.LittleEndian.PutUint16(low, uint16(kept))
	binary.LittleEndian.PutUint16(high, uint16(kept>>16))
	return g, nil
}

// checkLogin reads the client's answer to the greeting and returns the
// capabilities that both sides have. It refuses what the proxy can't follow.
func checkLogin(b []byte, server uint32) (uint32, error) {
	f := fields{b: b}
	caps := uint32(f.uint(4))
	if f.err != nil {
		return 0, fmt.Errorf("read login: %w", f.err)
	}
	switch {
	case caps&capProtocol41 == 0:
		return 0, errors.New("the client speaks a protocol older than MySQL 4.1")
	case caps&capSSL != 0:
		return 0, errors.New("the client asks for TLS; the proxy reads the traffic and offers none: connect with TLS off or preferred")
	case caps&(capCompress|capZstd) != 0:
		return 0, errors.New("the client asks for compression, which the proxy does not offer")
	}
	return caps & server, nil
}

// checkHandshakeHeader refuses a header that can't belong to the handshake.
func checkHandshakeHeader(wantSeq byte) func(int, byte) error {
	return func(length int, seq byte) error {
		if seq != wantSeq || length == 0 || length > maxHandshake {
			return fmt.Errorf("not the MySQL protocol: a handshake packet of %d bytes with number %d, want number %d", length, seq, wantSeq)
		}
		return nil
	}
}
