package stream

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

const (
	heartbeat = 5 * time.Second  // the server speaks at least this often
	silence   = 30 * time.Second // after which a connection counts as lost
)

// connect opens a connection as a replica does, and asks for the binlog.
//
// The dump is read by this package itself, not by go-mysql's syncer: that
// one holds each event as a whole, a compressed transaction even several
// times, and decodes every column of every row.
func (s *Stream) connect(ctx context.Context, from Position, executed *gomysql.MysqlGTIDSet) (_ *client.Conn, err error) {
	server := s.cfg.Server
	encryption, err := server.Encryption()
	if err != nil {
		return nil, fatal{err}
	}
	c, err := client.ConnectWithContext(ctx, server.Address(), server.User, server.Password, "", server.Timeout,
		func(c *client.Conn) error { c.SetTLSConfig(encryption); return nil })
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Conn.Conn.Close() })
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = c.Conn.Conn.Close()
		}
	}()
	if err := s.sameServer(c); err != nil {
		return nil, err
	}
	for _, set := range []string{
		fmt.Sprintf("SET @master_heartbeat_period = %d, @source_heartbeat_period = %[1]d", heartbeat.Nanoseconds()),
		"SET @master_binlog_checksum = @@global.binlog_checksum, @source_binlog_checksum = @@global.binlog_checksum",
		// The server ends an earlier connection of the same replica, should
		// one be left.
		fmt.Sprintf("SET @slave_uuid = '%s', @replica_uuid = '%[1]s'", s.identity),
	} {
		if _, err := c.Execute(set); err != nil {
			return nil, err
		}
	}
	if err := s.register(c); err != nil {
		return nil, err
	}
	return c, s.dump(c, from, executed)
}

// sameServer fails if the address now leads to another server: its binlog
// positions mean nothing to us. It also compares the clocks.
func (s *Stream) sameServer(c *client.Conn) error {
	result, err := c.Execute("SELECT @@server_uuid, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))")
	if err != nil {
		return err
	}
	clock, err := result.GetInt(0, 1)
	if err != nil {
		return err
	}
	s.ahead = time.Until(time.UnixMicro(clock))
	uuid, err := result.GetString(0, 0)
	if err != nil {
		return err
	}
	if uuid != s.cfg.Server.UUID {
		return fatal{fmt.Errorf("read binlog from %s: %w: server_uuid was %s and is %s",
			s.cfg.Server.Address(), ErrOtherServer, s.cfg.Server.UUID, uuid)}
	}
	return nil
}

// register makes the stream appear under SHOW REPLICAS.
func (s *Stream) register(c *client.Conn) error {
	command := append(make([]byte, 4), gomysql.COM_REGISTER_SLAVE)
	command = binary.LittleEndian.AppendUint32(command, s.cfg.ServerID)
	command = append(command, 3)
	command = append(command, "osc"...) // as the name of the replica's host
	command = append(command, 0, 0)     // no user, no password
	command = append(command, make([]byte, 2+4+4)...)
	c.ResetSequence()
	if err := c.WritePacket(command); err != nil {
		return err
	}
	_, err := c.ReadOKPacket()
	return err
}

// dump asks for the events from a position on.
func (s *Stream) dump(c *client.Conn, from Position, gtids *gomysql.MysqlGTIDSet) error {
	c.ResetSequence()
	if gtids == nil {
		command := append(make([]byte, 4), gomysql.COM_BINLOG_DUMP)
		command = binary.LittleEndian.AppendUint32(command, from.Pos)
		command = append(command, 0, 0)
		command = binary.LittleEndian.AppendUint32(command, s.cfg.ServerID)
		return c.WritePacket(append(command, from.File...))
	}
	executed := gtids.Encode()
	command := append(make([]byte, 4), gomysql.COM_BINLOG_DUMP_GTID, 0, 0)
	command = binary.LittleEndian.AppendUint32(command, s.cfg.ServerID)
	command = binary.LittleEndian.AppendUint32(command, 0) // no file: the set says it all
	command = binary.LittleEndian.AppendUint64(command, 4)
	command = binary.LittleEndian.AppendUint32(command, uint32(len(executed)))
	return c.WritePacket(append(command, executed...))
}

// hangUp ends the connection on both sides. By itself the server would
// notice only when it next has something to send.
func (s *Stream) hangUp(ctx context.Context, c *client.Conn) {
	_ = c.Conn.Conn.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	// Whether it helped does not matter: a dead server has no connections.
	_, _ = s.cfg.Server.DB.ExecContext(ctx, fmt.Sprintf("KILL %d", c.GetConnectionID()))
}
