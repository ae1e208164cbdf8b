package history_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/history"
)

func TestEvents(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		fd, err := syscall.Dup(int(w.Fd())) // OpenEvents takes it over
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(history.EventsEnv, fmt.Sprint(fd))
		events, err := history.OpenEvents()
		if err != nil {
			t.Fatal(err)
		}
		want := history.Event{Kind: history.EventRunEnd, Scenario: "s", Subject: "osc", Verdict: "Valid", Expected: true, Seconds: 1.5}
		events.Send(want)
		line, err := bufio.NewReader(r).ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var got history.Event
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	})

	t.Run("OK/WholeLinesFromManyGoroutines", func(t *testing.T) {
		var b strings.Builder
		events := history.NewEvents(&b)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { events.Send(history.Event{Kind: history.EventPhase, Phase: "a phase"}) })
		}
		all.Wait()
		want := strings.Repeat(`{"kind":"phase","phase":"a phase"}`+"\n", 20)
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})

	t.Run("OK/Discarded", func(t *testing.T) {
		t.Setenv(history.EventsEnv, "")
		events, err := history.OpenEvents()
		if err != nil {
			t.Fatal(err)
		}
		events.Send(history.Event{Kind: history.EventPhase})
		new(history.Events).Send(history.Event{Kind: history.EventPhase})
		(*history.Events)(nil).Send(history.Event{Kind: history.EventPhase})
	})

	for name, value := range map[string]string{"NoNumber": "events.jsonl", "StandardOutput": "1", "NotOpen": "9999"} {
		t.Run("Err"+name, func(t *testing.T) {
			t.Setenv(history.EventsEnv, value)
			if _, err := history.OpenEvents(); err == nil || !strings.Contains(err.Error(), history.EventsEnv) {
				t.Errorf("open: got %v, want an error that names %s", err, history.EventsEnv)
			}
		})
	}
}
