// Package scenarios stands in for the real scenarios: each test behaves as one
// kind of suite would, and writes what that would write.
package scenarios

import (
	"cmp"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

type object map[string]any

func TestGood(t *testing.T) {
	for _, subject := range begin(t, "good", "Bug: the good one\n goes bad.") {
		if subject == "control" {
			run("good", "mutant:careless", object{"verdict": "Invalid", "results": []object{
				{"checker": "c", "verdict": "Invalid", "anomalies": []object{{"kind": "lost row", "text": "row 1 is gone"}}},
			}}, true)
			continue
		}
		run("good", subject, object{"verdict": "Valid"}, true)
	}
}

func TestGoodButLeaking(t *testing.T) {
	if begin(t, "good-but-leaking", "a goroutine is left behind.") != nil {
		run("good-but-leaking", "osc", object{"verdict": "Valid"}, true)
		t.Error("found unexpected goroutines")
	}
}

func TestBad(t *testing.T) {
	if begin(t, "bad", "the bad one stays bad.") != nil {
		run("bad", "osc", object{"verdict": "Invalid"}, false)
		t.Error("not as expected")
	}
}

func TestDies(t *testing.T) {
	if begin(t, "dies", "it ends in the middle.") != nil {
		start("dies", "osc")
		os.Exit(2)
	}
}

func TestNothing(t *testing.T) {
	if begin(t, "nothing", "it does nothing.") != nil {
		t.Error("nothing was done")
	}
}

func TestNoDocker(t *testing.T) {
	if begin(t, "no-docker", "there is no Docker engine.") != nil {
		send(object{"kind": "environment", "error": "no Docker engine answers"})
		t.Fatal("no Docker engine answers")
	}
}

// TestHangs goes on until it is interrupted, and then leaves a note.
func TestHangs(t *testing.T) {
	if begin(t, "hangs", "it never ends.") == nil {
		return
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	dir := start("hangs", "osc")
	send(object{"kind": "phase", "phase": "hanging"})
	<-interrupts
	write(dir, "interrupted.json", true)
}

// TestParallel notes how many runs may go on at once.
func TestParallel(t *testing.T) {
	if begin(t, "parallel", "one at a time takes long.") == nil {
		return
	}
	dir := start("parallel", "osc")
	write(dir, "parallel.json", os.Getenv("ROWPROOF_PARALLEL"))
	end("parallel", "osc", dir, object{"verdict": "Valid"}, true)
}

// TestFlaky is not always the same.
func TestFlaky(t *testing.T) {
	if begin(t, "flaky", "once it is so, then it is not.") == nil {
		return
	}
	run("flaky", "osc", object{"verdict": "Valid"}, true)
	run("flaky", "osc", object{"verdict": "Valid"}, true)
	run("flaky", "osc", object{"verdict": "Invalid", "results": []object{
		{"checker": "c", "verdict": "Invalid", "anomalies": []object{{"kind": "lost row", "text": "row 1 is gone"}}},
	}}, false)
}

// TestKept leaves servers up until it is interrupted, and then notes it.
func TestKept(t *testing.T) {
	if begin(t, "kept", "one can't look at it.") == nil || os.Getenv("ROWPROOF_KEEP") != "1" {
		return
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	dir := start("kept", "osc")
	end("kept", "osc", dir, object{"verdict": "Valid"}, true)
	send(object{"kind": "kept", "scenario": "kept", "subject": "osc", "dir": dir, "kept": object{
		"logins": "/tmp/logins", "users": []string{"root", "app"}, "schema": "shop", "servers": []object{
			{"name": "source", "addr": "127.0.0.1:20123", "version": "9.7.4", "container": "0123456789abcdef", "socket": "/s.sock"},
		}}})
	<-interrupts
	write(dir, "removed.json", true)
}

// TestReports runs the bug reports it is given; a real one would read them.
func TestReports(t *testing.T) {
	for path := range strings.FieldsFuncSeq(os.Getenv("ROWPROOF_FILES"), func(c rune) bool { return c == '\n' }) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, subject := range begin(t, filepath.Base(path), "a report.") {
				run(filepath.Base(path), subject, object{"verdict": "Valid"}, true)
			}
		})
	}
}

// begin returns the subjects to run, or nil if the scenario is only listed.
func begin(t *testing.T, id, bug string) []string {
	if os.Getenv("ROWPROOF_LIST") == "1" {
		alone := map[string]string{"nothing": "it has no table"}[id] // no random load may run beside it
		send(object{"kind": "scenario", "scenario": id, "test": t.Name(), "bug": bug,
			"guards": "lost row", "control": "mutant:careless", "alone": alone})
		return nil
	}
	repeat, err := strconv.Atoi(os.Getenv("ROWPROOF_REPEAT"))
	check(err)
	return slices.Repeat(strings.Split(cmp.Or(os.Getenv("ROWPROOF_SUBJECT"), "osc,control,pt-osc"), ","), repeat)
}

func run(id, subject string, judgement object, expected bool) {
	end(id, subject, start(id, subject), judgement, expected)
}

func end(id, subject, dir string, judgement object, expected bool) {
	control := strings.HasPrefix(subject, "mutant:")
	write(dir, "verdict.json", object{"judgement": judgement, "control": control, "expected": expected, "seconds": 1.5})
	send(object{"kind": "run-end", "scenario": id, "subject": subject, "dir": dir,
		"verdict": judgement["verdict"], "expected": expected, "seconds": 1.5})
}

// start makes the next free run directory and says so.
func start(id, subject string) string {
	parent := filepath.Join(os.Getenv("ROWPROOF_OUT"), id, strings.ReplaceAll(subject, ":", "-"))
	check(os.MkdirAll(parent, 0o755))
	n := 1
	for os.Mkdir(filepath.Join(parent, strconv.Itoa(n)), 0o755) != nil {
		n++
	}
	dir := filepath.Join(parent, strconv.Itoa(n))
	seed, _ := strconv.ParseUint(os.Getenv("ROWPROOF_SEED"), 10, 64)
	write(dir, "run.json", object{"format": 1, "scenario": id, "subject": subject, "seed": seed, "guards": "lost row",
		"control": strings.HasPrefix(subject, "mutant:")})
	send(object{"kind": "run-start", "scenario": id, "subject": subject, "dir": dir})
	return dir
}

func send(event object) {
	data, err := json.Marshal(event)
	check(err)
	fd, err := strconv.Atoi(os.Getenv("ROWPROOF_EVENTS"))
	check(err)
	_, err = syscall.Write(fd, append(data, '\n')) // an os.File would close it when collected
	check(err)
}

func write(dir, name string, v any) {
	data, err := json.Marshal(v)
	check(err)
	check(os.WriteFile(filepath.Join(dir, name), data, 0o644))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
