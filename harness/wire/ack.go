package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// Withhold gives no ACK from now on, except as told.
func (r *Replica) Withhold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.withheld = true
}

// Unacked returns the places up to which the source wants an ACK and has
// none, in their order.
func (r *Replica) Unacked() []Unacked {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.unacked)
}

// AckUpTo gives an ACK up to a place, once the stream has come there. An ACK
// is for all that stands before it: no transaction can be left out.
func (r *Replica) AckUpTo(ctx context.Context, to LogSpot) error {
	if err := r.Await(ctx, to); err != nil {
		return fmt.Errorf("give ACK: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unacked = slices.DeleteFunc(r.unacked, func(u Unacked) bool { return to.AtLeast(u.LogSpot) })
	return r.ack(to)
}

// AckAll gives the ACKs that are wanted now, and goes on withholding.
func (r *Replica) AckAll() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ackAll()
}

// Resume ends Withhold: it gives the ACKs that are wanted, and later ones at
// once.
func (r *Replica) Resume() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.withheld = false
	return r.ackAll()
}

func (r *Replica) ackAll() error {
	if len(r.unacked) == 0 {
		return nil
	}
	err := r.ack(r.unacked[len(r.unacked)-1].LogSpot)
	r.unacked = nil
	return err
}

// ack writes the packet. Its number is always 0.
func (r *Replica) ack(to LogSpot) error {
	b := binary.LittleEndian.AppendUint64([]byte{semiSyncMark}, to.Pos)
	if _, err := r.conn.Conn.Conn.Write(makePacket(0, append(b, to.File...))); err != nil {
		return fmt.Errorf("give ACK up to %s:%d: %w", to.File, to.Pos, err)
	}
	return nil
}
