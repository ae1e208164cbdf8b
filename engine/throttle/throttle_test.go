package throttle

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const every = 5 * time.Millisecond

// fake are servers whose answers a test sets.
type fake struct {
	mu      sync.Mutex
	status  map[string]int64
	history int64
	err     error
	beat    string // newest on the source
	arrived bool   // beats reach the replica
	seen    string // newest on the replica
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) servers(replicas bool) Servers {
	s := Servers{
		Status: func(context.Context, []string) (map[string]int64, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.status, f.err
		},
		History: func(context.Context) (int64, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.history, f.err
		},
		Beat: func(_ context.Context, token string) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.beat = token
			if f.arrived {
				f.seen = token
			}
			return nil
		},
	}
	if replicas {
		s.Replicas = []Replica{{Name: "db2:3306", Beat: func(context.Context) (string, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.seen, f.err
		}}}
	}
	return s
}

// run runs a throttle until the test ends; failed receives what Run returns.
func run(t *testing.T, servers Servers, cfg Config) (th *Throttle, failed <-chan error) {
	t.Helper()
	cfg.Every = every
	th = New(servers, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	ended := make(chan struct{})
	go func() { defer close(ended); done <- th.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return th, done
}

// passes waits until the copy may go on.
func passes(t *testing.T, th *Throttle) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := th.Wait(ctx); err != nil {
		t.Fatalf("Wait: got %v after 10 s, want it to return; reason: %q", err, th.Reason().Text)
	}
}

// waits waits until the copy has to wait, and returns why.
func waits(t *testing.T, th *Throttle) Reason {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		th.mu.Lock()
		reason, changed := th.reason(), th.changed
		th.mu.Unlock()
		if reason != (Reason{}) {
			return reason
		}
		select {
		case <-changed:
		case <-time.After(time.Second):
		}
	}
	t.Fatal("nothing asks to wait after 10 s")
	return Reason{}
}

func TestLoad(t *testing.T) {
	f := &fake{status: map[string]int64{"threads_running": 26}}
	th, _ := run(t, f.servers(false), Config{Limits: Limits{MaxLoad: Load{{"Threads_running", 25}}}})
	if got, want := waits(t, th), (Reason{"load", "Threads_running is 26, the limit is 25"}); got != want {
		t.Errorf("reason: got %v, want %v", got, want)
	}
	f.set(func() { f.status = map[string]int64{"threads_running": 25} })
	passes(t, th)
}

func TestCriticalLoad(t *testing.T) {
	f := &fake{status: map[string]int64{"threads_running": 101}}
	flag := filepath.Join(t.TempDir(), "flag") // also while something else holds the copy back
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, failed := run(t, f.servers(false), Config{Limits: Limits{CriticalLoad: Load{{"Threads_running", 100}}, FlagFiles: []string{flag}}})
	if got, want := (<-failed).Error(), "critical load: Threads_running is 101, the limit is 100"; got != want {
		t.Errorf("error: got %q, want %q", got, want)
	}
}

func TestSourceThatCannotBeAsked(t *testing.T) {
	f := &fake{err: errors.New("gone")}
	th, _ := run(t, f.servers(false), Config{Limits: Limits{MaxHistory: 1000}})
	if got := waits(t, th); got.Check != "source" || !strings.Contains(got.Text, "gone") {
		t.Errorf("reason: got %v, want the source, with its error", got)
	}
	f.set(func() { f.err = nil })
	passes(t, th)
}

func TestHistory(t *testing.T) {
	f := &fake{history: 1001}
	th, _ := run(t, f.servers(false), Config{Limits: Limits{MaxHistory: 1000}})
	if got := waits(t, th); got.Check != "history" {
		t.Errorf("reason: got %v, want the history list", got)
	}
	if err := th.SetLimits(Limits{MaxHistory: 2000}); err != nil {
		t.Fatal(err)
	}
	passes(t, th)
}

func TestLag(t *testing.T) {
	f := &fake{}
	th, _ := run(t, f.servers(true), Config{Limits: Limits{MaxLag: 50 * time.Millisecond}})
	if got := waits(t, th); got.Check != "lag" || !strings.Contains(got.Text, "db2:3306 has not received a heartbeat") {
		t.Errorf("reason: got %v, want that db2:3306 has no heartbeat", got)
	}
	f.set(func() { f.arrived = true })
	passes(t, th)
	f.set(func() { f.arrived = false })
	if got := waits(t, th); got.Check != "lag" || !strings.Contains(got.Text, "the replica db2:3306 is ") {
		t.Errorf("reason: got %v, want the lag of db2:3306", got)
	}
	f.set(func() { f.arrived = true })
	passes(t, th)
	f.set(func() { f.err = errors.New("refused") })
	if got := waits(t, th); got.Check != "lag" || !strings.Contains(got.Text, "can't be asked: refused") {
		t.Errorf("reason: got %v, want the replica's error", got)
	}
}

// A replica that has every heartbeat is not behind, however old the newest
// one is: it is the source that does not commit.
func TestBehind(t *testing.T) {
	p := newPulse(nil, nil, time.Second)
	p.started = time.Now().Add(-time.Minute)
	p.newest.Store(int64(20 * time.Second))
	for _, c := range []struct {
		token string
		want  time.Duration
		ok    bool
	}{
		{p.id + "-20000000000", 0, true},
		{p.id + "-10000000000", 49 * time.Second, true},
		{"another run-20000000000", time.Minute, false},
		{"", time.Minute, false},
	} {
		if got, ok := p.behind(c.token); got.Round(time.Second) != c.want || ok != c.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", c.token, got, ok, c.want, c.ok)
		}
	}
}

// A flag file that is there from the start holds the first chunk back, and a
// second reason does not pass because the first one ends.
func TestFlagFileAndPause(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if err := os.WriteFile(two, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	th, _ := run(t, (&fake{}).servers(false), Config{Limits: Limits{FlagFiles: []string{one, two}},
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	through := make(chan error)
	go func() { through <- th.Wait(t.Context()) }()
	if got, want := waits(t, th), (Reason{"flag file", "the file " + two + " exists"}); got != want {
		t.Errorf("reason: got %v, want %v", got, want)
	}
	th.Pause()
	if got := th.Reason(); got.Check != "operator" {
		t.Errorf("reason: got %v, want the operator", got)
	}
	if err := os.Remove(two); err != nil {
		t.Fatal(err)
	}
	th.Resume()
	if err := <-through; err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(log.String(), "the copy waits"); got > 2 {
		t.Errorf("log: got %d lines that it waits, want one for each change of reason\n%s", got, &log)
	}
	if !strings.Contains(log.String(), "the copy goes on") {
		t.Errorf("log: got %q, want it to say that the copy goes on", &log)
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	th := New((&fake{}).servers(false), Config{}) // never looks
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := th.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestPacerRests(t *testing.T) {
	th, _ := run(t, (&fake{}).servers(false), Config{Limits: Limits{NiceRatio: 2}})
	pacer := th.Pacer()
	if err := pacer.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	pacer.began = time.Now().Add(-50 * time.Millisecond) // a chunk took that long
	began := time.Now()
	if err := pacer.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := time.Since(began), 100*time.Millisecond; got < want {
		t.Errorf("rest: got %v, want at least %v", got, want)
	}
}

func TestParseLoad(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		load, err := ParseLoad("Threads_running=25, Threads_connected = 500")
		if got, want := load.String(), "Threads_running=25,Threads_connected=500"; err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	})
	for _, text := range []string{"Threads_running", "=5", "a=b", "a=-1", "a=1,", "a=1;b=2"} {
		t.Run("Err "+text, func(t *testing.T) {
			if load, err := ParseLoad(text); err == nil {
				t.Errorf("got %v, want an error", load)
			}
		})
	}
}

func TestLimitsThatCannotBe(t *testing.T) {
	th := New(Servers{}, Config{})
	for _, l := range []Limits{{MaxLag: -1}, {MaxHistory: -1}, {NiceRatio: -1}, {NiceRatio: 101}} {
		if err := th.SetLimits(l); err == nil {
			t.Errorf("%+v: got no error", l)
		}
	}
}
