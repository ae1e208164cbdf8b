package engine

import (
	"context"
	"fmt"
	"strconv"

	"rowproof/engine/ddl"
)

// checkBinlog refuses a server whose binlog does not tell of every change of
// the table. Its row image may be any, and compressed or not, and JSON may
// come in parts: of a row nothing but its key is read, and that always
// comes.
func (m *migration) checkBinlog(ctx context.Context) error {
	v, err := m.server.Variables(ctx, "log_bin", "binlog_format", "gtid_mode", "log_replica_updates", "log_slave_updates",
		"binlog_transaction_compression_level_zstd")
	if err != nil {
		return err
	}
	server := "server " + m.cfg.Server.Address()
	switch level, _ := strconv.Atoi(v["binlog_transaction_compression_level_zstd"]); {
	case v["log_bin"] != "ON":
		return &ddl.Refusal{What: server, Why: "its binary log is off (log_bin=OFF), so changes can't be followed",
			Do: "start the server with log_bin"}
	case v["binlog_format"] != "ROW":
		return &ddl.Refusal{What: "binlog_format=" + v["binlog_format"], Why: "changes logged as statements name no rows",
			Do: "SET GLOBAL binlog_format=ROW and let every session reconnect"}
	case m.cfg.Stream.GTID && v["gtid_mode"] != "ON":
		return &ddl.Refusal{What: "--gtid", Why: "not every transaction has a GTID (gtid_mode=" + v["gtid_mode"] + ")",
			Do: "leave --gtid out, or turn gtid_mode on"}
	case level > maxCompression:
		return &ddl.Refusal{What: fmt.Sprintf("binlog_transaction_compression_level_zstd=%d", level),
			Why: "to read what it compresses takes 64 MB and more", Do: fmt.Sprintf("set it to %d or less", maxCompression)}
	}
	status, err := m.server.BinlogStatus(ctx, "preflight")
	if err != nil {
		return err
	}
	if option := status.Filtered(m.cfg.Server.Schema); option != "" {
		return &ddl.Refusal{What: "schema " + m.cfg.Server.Schema, Why: "its changes are kept out of the binary log (" + option + ")",
			Do: "start the server without that option"}
	}
	replica, err := m.server.Replicates(ctx)
	if err == nil && replica && v["log_replica_updates"] != "ON" && v["log_slave_updates"] != "ON" {
		return &ddl.Refusal{What: server, Why: "it is a replica and does not log what it replicates (log_replica_updates=OFF)",
			Do: "start it with log_replica_updates, or connect to the source"}
	}
	return err
}

// maxCompression is the highest level of compression whose memory is in
// bounds.
const maxCompression = 20

// minPacket is what the largest of our statements fits in, many times over.
const minPacket = 1 << 20

// checkRoom looks at what the migration needs of the server besides.
func (m *migration) checkRoom(ctx context.Context) error {
	v, err := m.server.Variables(ctx, "max_allowed_packet")
	if err != nil {
		return err
	}
	if n, err := strconv.ParseUint(v["max_allowed_packet"], 10, 64); err == nil && n < minPacket {
		return &ddl.Refusal{What: "max_allowed_packet=" + v["max_allowed_packet"], Why: "statements of a thousand keys would not fit",
			Do: fmt.Sprintf("SET GLOBAL max_allowed_packet=%d or more", minPacket)}
	}
	var bytes uint64
	err = m.server.DB.QueryRowContext(ctx, "SELECT IFNULL(DATA_LENGTH + INDEX_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
		m.names.original.Schema, m.names.original.Name).Scan(&bytes)
	if err != nil {
		return fmt.Errorf("read size of %s: %w", m.names.original, err)
	}
	m.cfg.Log.Info("disk space: the copy takes about as much as the table, in its tablespace and again in the binary log; "+
		"MySQL does not tell how much is free", "table", size(bytes))
	return nil
}

// size is a number of bytes as a person reads it.
func size(bytes uint64) string {
	const unit = 1024
	value, name := float64(bytes), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < unit {
			break
		}
		value, name = value/unit, next
	}
	return fmt.Sprintf("%.4g %s", value, name)
}
