package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

// ReplicaConfig says as what a Replica joins a source.
type ReplicaConfig struct {
	Addr           string // of the source, host:port
	User, Password string // an account that may replicate
	ServerID       uint32
	UUID           string  // "" gives none
	From           LogSpot // where its stream starts
	SemiSync       bool    // it gives ACKs
}

// LogSpot is a place in a binlog.
type LogSpot struct {
	File string
	Pos  uint64
}

// AtLeast reports whether s is o or stands behind it, in one server's binlog.
func (s LogSpot) AtLeast(o LogSpot) bool {
	if len(s.File) != len(o.File) { // binlog.1000000 follows binlog.999999
		return len(s.File) > len(o.File)
	}
	return s.File > o.File || s.File == o.File && s.Pos >= o.Pos
}

// Unacked is a place up to which the source wants an ACK. Several
// transactions that were written together want only one.
type Unacked struct {
	LogSpot
	GTID string // of the last transaction before it; "" without GTIDs
}

// Replica is a client that a source takes for a replica. It stores nothing.
// With semi-sync it gives every ACK at once, until told to withhold them.
type Replica struct {
	conn   *client.Conn
	read   *packetReader
	thread uint32
	events eventParser
	pump   sync.WaitGroup

	mu       sync.Mutex
	withheld bool
	unacked  []Unacked
	at       LogSpot       // how far the stream has come
	moved    chan struct{} // closed and made anew whenever at moves; nil once the stream has ended
	closed   bool
	err      error // why the stream ended
}

// heartbeat is how often the source has to speak when it has nothing to send.
const heartbeat = time.Second

// JoinReplica joins a source and returns once its stream has begun. The
// replica runs until Close.
func JoinReplica(ctx context.Context, config ReplicaConfig) (*Replica, error) {
	r, err := joinReplica(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("join %s as a replica: %w", config.Addr, err)
	}
	return r, nil
}

func joinReplica(ctx context.Context, config ReplicaConfig) (_ *Replica, err error) {
	conn, err := client.ConnectWithContext(ctx, config.Addr, config.User, config.Password, "", 10*time.Second)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Conn.Conn.Close() })
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = conn.Conn.Conn.Close()
		}
	}()
	settings := fmt.Sprintf("SET @source_heartbeat_period = %d, @master_heartbeat_period = %[1]d,"+
		" @source_binlog_checksum = @@global.binlog_checksum, @master_binlog_checksum = @@global.binlog_checksum", heartbeat.Nanoseconds())
	if config.UUID != "" {
		settings += fmt.Sprintf(", @replica_uuid = '%s', @slave_uuid = '%[1]s'", config.UUID)
	}
	if config.SemiSync {
		settings += ", @rpl_semi_sync_replica = 1, @rpl_semi_sync_slave = 1"
	}
	if _, err := conn.Execute(settings); err != nil {
		return nil, err
	}
	if err := register(conn, config.ServerID); err != nil {
		return nil, err
	}
	conn.ResetSequence()
	dump := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, comDump}, uint32(config.From.Pos))
	dump = binary.LittleEndian.AppendUint32(append(dump, 0, 0), config.ServerID)
	if err := conn.WritePacket(append(dump, config.From.File...)); err != nil {
		return nil, err
	}
	r := &Replica{
		conn: conn, thread: conn.GetConnectionID(), moved: make(chan struct{}),
		// The client's own reader has nothing left, and would check numbers
		// of packets that start anew with every ACK.
		read: newPacketReader(conn.Conn.Conn),
	}
	p, err := r.read.next(nil)
	if err != nil {
		return nil, err
	}
	if err := r.packet(p, false); err != nil {
		return nil, err
	}
	if config.SemiSync && !r.events.semiSync {
		return nil, errors.New("it is no semi-sync source: load and enable its plugin")
	}
	r.pump.Go(r.run)
	return r, nil
}

// register makes the replica appear in SHOW REPLICAS.
func register(conn *client.Conn, id uint32) error {
	command := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, comRegister}, id)
	command = append(command, make([]byte, 1+1+1+2+4+4)...) // no host, user or password; port, rank, source id
	conn.ResetSequence()
	if err := conn.WritePacket(command); err != nil {
		return err
	}
	_, err := conn.ReadOKPacket()
	return err
}

// At returns how far the stream has come: the end of the last event.
func (r *Replica) At() LogSpot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// Await waits until the stream has come to a place.
func (r *Replica) Await(ctx context.Context, to LogSpot) error {
	for {
		r.mu.Lock()
		at, moved, err := r.at, r.moved, r.err
		r.mu.Unlock()
		if at.AtLeast(to) {
			return nil
		}
		if moved == nil {
			return errors.Join(fmt.Errorf("wait for %s:%d: the stream has ended", to.File, to.Pos), err)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s:%d in the stream: %w", to.File, to.Pos, ctx.Err())
		}
	}
}

// ServerThread returns the source's id of the connection, as in SHOW
// PROCESSLIST.
func (r *Replica) ServerThread() uint32 { return r.thread }

// Close ends the connection. The source notices when it next sends something,
// or when it is told to kill the thread.
func (r *Replica) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	err := r.conn.Conn.Conn.Close()
	r.pump.Wait()
	if err != nil {
		return fmt.Errorf("close replica: %w", err)
	}
	return nil
}

func (r *Replica) run() {
	continued := false
	for {
		p, err := r.read.next(nil)
		if err == nil {
			full := p.full()
			err = r.packet(p, continued)
			continued = full
		}
		if err != nil {
			r.end(err)
			return
		}
	}
}

func (r *Replica) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		err = nil
	}
	r.err = err
	close(r.moved)
	r.moved = nil
}

// packet takes one packet of the stream.
func (r *Replica) packet(p packet, continued bool) error {
	b := p.payload()
	switch {
	case continued:
		return nil
	case len(b) == 0:
		return errShort
	case b[0] == 0xff:
		return parseErr(b)
	case b[0] != 0:
		return errors.New("the source ended the stream")
	}
	e, err := r.events.event(b, p.full())
	if err != nil {
		return err
	}
	asked := r.events.semiSync && b[2] == 1
	r.mu.Lock()
	defer r.mu.Unlock()
	if asked {
		u := Unacked{LogSpot{e.File, e.End}, e.GTID}
		if r.withheld {
			r.unacked = append(r.unacked, u)
		} else if err := r.ack(u.LogSpot); err != nil {
			return err
		}
	}
	if e.End > 0 {
		r.at = LogSpot{e.File, e.End}
		close(r.moved)
		r.moved = make(chan struct{})
	}
	return nil
}
