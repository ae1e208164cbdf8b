// Package figures holds what a benchmark measured, as it is kept in a file.
//
// A Report is a list of single Runs and what they ran on; nothing in it is
// computed from anything else in it. Medians and ratios (median.go) are drawn
// from the runs whenever they are wanted, so a stored report can be read
// again by a newer eye.
package figures

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Schema is the version of the file's form. A reader refuses another one.
const Schema = 1

// Report is one benchmark: everything in it ran on one server, one after the
// other.
type Report struct {
	Schema  int       `json:"schema"`
	Started time.Time `json:"started"`
	Version string    `json:"version"` // of this project: a commit
	Machine Machine   `json:"machine"`
	Server  Server    `json:"server"`
	Table   Table     `json:"table"`
	Alter   string    `json:"alter"`  // what follows ALTER TABLE t, for all contenders
	Repeat  int       `json:"repeat"` // rounds of each phase

	Contenders []Contender `json:"contenders"` // in the order in which they ran
	LeftOut    []string    `json:"left_out,omitempty"`
	Runs       []Run       `json:"runs"` // in the order in which they ran
}

// Machine is what it ran on.
type Machine struct {
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	CPUs        int    `json:"cpus"`
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
}

// Server is the MySQL server.
type Server struct {
	Version string   `json:"version"`
	Options []string `json:"options"` // those that differ from the tests' servers
}

// Table is the table that is migrated.
type Table struct {
	Name  string `json:"name"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"` // of data and its one secondary index
}

// Contender is a way to do the job.
type Contender struct {
	Name    string `json:"name"`
	Command string `json:"command"` // without the server's address and account
}

// Phase is a part of the benchmark.
type Phase string

// The phases. One of Load has the rate behind its name: "load-500".
const (
	Whole   Phase = "whole"   // the whole command, no other load
	Indexes Phase = "indexes" // the same on a table with four secondary indexes
	Backlog Phase = "backlog" // applying changes that piled up after the copy
	Load    Phase = "load"    // the whole command under a steady load of writes
)

// None is the contender that does nothing: what the load feels without a
// migration.
const None = "none"

// Run is one measurement.
type Run struct {
	Phase     Phase   `json:"phase"`
	Contender string  `json:"contender"`
	Round     int     `json:"round"` // from 1
	Seconds   float64 `json:"seconds"`
	PeakBytes int64   `json:"peak_bytes,omitempty"`         // most memory that the tool held; 0 for the server's own ALTER
	CPU       float64 `json:"cpu_seconds,omitempty"`        // processor time of the tool
	ServerCPU float64 `json:"server_cpu_seconds,omitempty"` // and of the server, with what else it did; of Whole, Indexes and Load
	Error     string  `json:"error,omitempty"`              // why it gave no figures
	Changes   int64   `json:"changes,omitempty"`            // of Backlog: rows that were applied
	Felt      *Felt   `json:"felt,omitempty"`               // of Load
}

// Felt is what the application felt while a contender worked. A latency
// counts from the moment at which the write was due, so that one stall is
// felt by every write that it kept waiting.
type Felt struct {
	Rate       int     `json:"rate"`   // writes due each second
	Due        int64   `json:"due"`    // while the contender worked
	Failed     int64   `json:"failed"` // of them
	Failure    string  `json:"failure,omitempty"`
	Throughput float64 `json:"throughput"` // writes done each second while it worked
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	P999       float64 `json:"p999_ms"`
	Max        float64 `json:"max_ms"`
}

// Write writes the report to a file.
func (r Report) Write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write benchmark: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write benchmark: %w", err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write benchmark: %w", err)
	}
	return nil
}

// Read reads a report.
func Read(path string) (Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Report{}, fmt.Errorf("read benchmark: %w", err)
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return Report{}, fmt.Errorf("read benchmark %s: %w", path, err)
	}
	if r.Schema != Schema {
		return Report{}, fmt.Errorf("read benchmark %s: its schema is %d, and this program knows %d", path, r.Schema, Schema)
	}
	return r, nil
}
