package main

import (
	"fmt"
	"testing"

	"rowproof/harness/history"
)

func TestShard(t *testing.T) {
	var all []history.Event
	for i := range 21 {
		all = append(all, history.Event{Scenario: fmt.Sprintf("scenario-%02d", i)})
	}
	for _, count := range []int{1, 2, 8, 30} {
		t.Run(fmt.Sprintf("OK/%d", count), func(t *testing.T) {
			times := map[string]int{}
			for k := 1; k <= count; k++ {
				s, err := parseShard(fmt.Sprintf("%d/%d", k, count))
				if err != nil {
					t.Fatal(err)
				}
				mine := s.of(all)
				if least := len(all) / count; len(mine) < least || len(mine) > least+1 {
					t.Errorf("share %d of %d: got %d scenarios, want %d or one more", k, count, len(mine), least)
				}
				for _, scenario := range mine {
					times[scenario.Scenario]++
				}
			}
			for _, scenario := range all {
				if got := times[scenario.Scenario]; got != 1 {
					t.Errorf("%s is in %d shares, want 1", scenario.Scenario, got)
				}
			}
		})
	}

	for _, text := range []string{"0/8", "9/8", "x", "1/", "/8", "1/0", "-1/8", "1/8/2", "1.5/8"} {
		t.Run("Err/"+text, func(t *testing.T) {
			if got, err := parseShard(text); err == nil {
				t.Errorf("got %+v and no error", got)
			}
		})
	}
}
