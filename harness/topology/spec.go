package topology

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Spec says what cluster is wanted. The zero value is one plain server
// without GTIDs.
type Spec struct {
	// Replicas is the number of replicas of the source, 0 to 9.
	Replicas int

	// SemiSync makes the source wait for one replica's ACK after it has
	// written a transaction to its binlog and before it commits it
	// (AFTER_SYNC). It waits for an hour, in effect for ever. Without a
	// replica, whoever speaks a replica's protocol gives the ACK.
	SemiSync bool

	// GTID turns gtid_mode on, and replicas find their position by GTID;
	// otherwise they replicate by file and position.
	GTID bool

	// PerformanceSchema turns the performance schema on. It costs 150 MB of
	// memory a server and 0.1 s of boot time.
	PerformanceSchema bool

	// DataMegabytes is the size of each server's data directory, which lies
	// in memory; 0 means 1024. Memory is used only as the data grows.
	DataMegabytes int

	// Disk puts the data directory into a volume on the engine's disk instead,
	// which goes with the container. It has no limit then.
	Disk bool

	// FirstBinlog is the number of the source's binlog file at the start of
	// each run; 0 is whatever it has come to. It can't be changed under
	// replicas.
	FirstBinlog int

	// Options are more options of every server, as on mysqld's command line:
	// "--binlog-order-commits=OFF". SourceOptions and ReplicaOptions follow
	// them, so a later one wins.
	Options        []string
	SourceOptions  []string
	ReplicaOptions []string
}

const (
	maxReplicas          = 9
	maxFirstBinlog       = 2_000_000_000 // the server's own limit
	minDataMegabytes     = 256
	defaultDataMegabytes = 1024
)

// Validate names the field that can't be.
func (s Spec) Validate() error {
	if s.Replicas < 0 || s.Replicas > maxReplicas {
		return fmt.Errorf("Spec.Replicas is %d, want 0 to %d", s.Replicas, maxReplicas)
	}
	if s.FirstBinlog < 0 || s.FirstBinlog > maxFirstBinlog {
		return fmt.Errorf("Spec.FirstBinlog is %d, want 0 to %d", s.FirstBinlog, maxFirstBinlog)
	}
	if s.FirstBinlog > 0 && s.Replicas > 0 {
		return fmt.Errorf("Spec.FirstBinlog is %d, want 0 with replicas", s.FirstBinlog)
	}
	if s.DataMegabytes != 0 && s.DataMegabytes < minDataMegabytes {
		return fmt.Errorf("Spec.DataMegabytes is %d, want 0 or at least %d", s.DataMegabytes, minDataMegabytes)
	}
	return errors.Join(
		validateOptions("Spec.Options", s.Options),
		validateOptions("Spec.SourceOptions", s.SourceOptions),
		validateOptions("Spec.ReplicaOptions", s.ReplicaOptions),
	)
}

func validateOptions(field string, options []string) error {
	for _, o := range options {
		if !strings.HasPrefix(o, "--") || strings.ContainsAny(o, "\r\n") {
			return fmt.Errorf("%s has %q, want one option that starts with --", field, o)
		}
	}
	return nil
}

// key is equal for equal specs.
func (s Spec) key() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // numbers, booleans and strings always encode
	}
	return string(text)
}

// options returns the options of the n-th server; 0 is the source.
func (s Spec) options(n int) []string {
	o := []string{"--server-id=" + strconv.Itoa(n+1)}
	onOff := func(name string, on bool) {
		o = append(o, "--"+name+"="+map[bool]string{true: "ON", false: "OFF"}[on])
	}
	onOff("gtid-mode", s.GTID)
	onOff("enforce-gtid-consistency", s.GTID)
	onOff("performance-schema", s.PerformanceSchema)
	if n > 0 {
		o = append(o, "--relay-log=relay")
	}
	if s.SemiSync && n == 0 {
		o = append(o,
			"--plugin-load-add=semisync_source.so",
			"--rpl-semi-sync-source-enabled=ON",
			"--rpl-semi-sync-source-wait-point=AFTER_SYNC",
			"--rpl-semi-sync-source-timeout=3600000", // milliseconds
		)
	}
	if s.SemiSync && n > 0 {
		o = append(o, "--plugin-load-add=semisync_replica.so", "--rpl-semi-sync-replica-enabled=ON")
	}
	o = append(o, s.Options...)
	if n == 0 {
		return append(o, s.SourceOptions...)
	}
	return append(o, s.ReplicaOptions...)
}

// dataMegabytes returns the size of a server's data directory in memory; 0
// if it lies on disk.
func (s Spec) dataMegabytes() int {
	if s.Disk {
		return 0
	}
	if s.DataMegabytes == 0 {
		return defaultDataMegabytes
	}
	return s.DataMegabytes
}
