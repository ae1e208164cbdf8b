package wire_test

import (
	"testing"

	"rowproof/harness/wire"
)

// BenchmarkRoundTrip shows what the proxy adds to one round trip: the
// difference of the two.
func BenchmarkRoundTrip(b *testing.B) {
	s := serve(b, 0, answers(nil))
	p := listen(b, s, wire.Config{Phrasebook: wire.CommentPhrasebook("osc")})
	for name, addr := range map[string]string{"Direct": s.addr(), "Proxy": p.Addr()} {
		b.Run(name, func(b *testing.B) {
			c := rawClient{b, dial(b, addr)}
			c.read()
			c.send(1, loginPayload(baseCaps))
			c.read()
			for b.Loop() {
				c.send(0, "\x03select 1")
				c.read()
			}
		})
	}
}
