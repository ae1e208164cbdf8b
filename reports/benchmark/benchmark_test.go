package benchmark_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/bench/figures"
	"rowproof/reports/benchmark"
)

func report() figures.Report {
	felt := func(p99 float64, failed int64) *figures.Felt {
		return &figures.Felt{Rate: 500, Due: 1000, Failed: failed, Failure: "Deadlock found", Throughput: 499.6, P50: 1.25, P99: p99, P999: 2 * p99, Max: 3 * p99}
	}
	return figures.Report{
		Schema: figures.Schema, Version: "0123abc", Alter: "ENGINE=InnoDB", Repeat: 1,
		Machine: figures.Machine{CPUs: 2}, Server: figures.Server{Version: "9.7.4"},
		Table:   figures.Table{Name: "t", Rows: 2_000_000, Bytes: 450 << 20},
		LeftOut: []string{"spirit: no --spirit given"},
		Runs: []figures.Run{
			{Phase: figures.Whole, Contender: "osc", Round: 1, Seconds: 8, CPU: 1, ServerCPU: 9.5, PeakBytes: 20 << 20},
			{Phase: figures.Whole, Contender: "COPY", Round: 1, Seconds: 16, ServerCPU: 15.2},
			{Phase: figures.Whole, Contender: "gh-ost", Round: 1, Error: "aborted with status 1"},
			{Phase: figures.Backlog, Contender: "osc", Round: 1, Seconds: 2, Changes: 400_000, PeakBytes: 40 << 20},
			{Phase: figures.Backlog, Contender: "gh-ost", Round: 1, Seconds: 20, Changes: 400_000, PeakBytes: 30 << 20},
			{Phase: "load-500", Contender: "none", Round: 1, Seconds: 15, Felt: felt(2.5, 0)},
			{Phase: "load-500", Contender: "osc", Round: 1, Seconds: 9, PeakBytes: 21 << 20, Felt: felt(1500, 3)},
		},
	}
}

const want = `Whole command, no other load
┌───────────┬─────────┬────────┬───────┬─────────┐
│ contender │ seconds │ × COPY │ CPU s │ peak MB │
├───────────┼─────────┼────────┼───────┼─────────┤
│ osc       │     8.0 │   0.50 │  10.5 │      20 │
│ COPY      │    16.0 │   1.00 │  15.2 │         │
│ gh-ost    │  failed │        │       │         │
└───────────┴─────────┴────────┴───────┴─────────┘
  gh-ost: aborted with status 1

Applying changes that piled up after the copy
┌───────────┬─────────┬─────────┬───────────────────┬─────────┐
│ contender │ seconds │  rows/s │ × gh-ost's rows/s │ peak MB │
├───────────┼─────────┼─────────┼───────────────────┼─────────┤
│ osc       │     2.0 │ 200,000 │              10.0 │      40 │
│ gh-ost    │    20.0 │  20,000 │               1.0 │      30 │
└───────────┴─────────┴─────────┴───────────────────┴─────────┘

What 500 single-row writes a second feel meanwhile
┌───────────┬─────────┬────────┬────────┬──────────┬────────┬──────────┬────────┬─────────┐
│ contender │ seconds │ p50 ms │ p99 ms │ p99.9 ms │ max ms │ writes/s │ failed │ peak MB │
├───────────┼─────────┼────────┼────────┼──────────┼────────┼──────────┼────────┼─────────┤
│ none      │    15.0 │    1.2 │    2.5 │      5.0 │    7.5 │      500 │      0 │         │
│ osc       │     9.0 │    1.2 │  1,500 │    3,000 │  4,500 │      500 │      3 │      21 │
└───────────┴─────────┴────────┴────────┴──────────┴────────┴──────────┴────────┴─────────┘
  a write failed under osc: Deadlock found

Medians of 1 round; 2,000,000 rows, 450 MB; ALTER TABLE ENGINE=InnoDB; MySQL 9.7.4; 2 processors; version 0123abc.
Left out: spirit: no --spirit given.
`

func TestWriteText(t *testing.T) {
	var got strings.Builder
	if err := benchmark.WriteText(&got, report()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestWritePlot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "plot.svg")
	if err := benchmark.WritePlot(path, report()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(strings.NewReader(string(data))); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the plot is no XML: %v", err)
		}
	}
	for _, want := range []string{"Whole command, no other load", ">osc<", "16.0", "200,000", "1,500", "logarithmic"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the plot has no %q", want)
		}
	}
	if strings.Contains(string(data), "href=") {
		t.Error("the plot points to other files")
	}
}
