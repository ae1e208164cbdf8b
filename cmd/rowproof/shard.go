package main

import (
	"fmt"
	"strconv"
	"strings"

	"rowproof/harness/history"
)

// shard is one of several shares of the scenarios, for machines that divide
// them up.
type shard struct{ index, count int } // index counts from 0

// parseShard reads "2/8"; "" is the one share that holds all.
func parseShard(text string) (shard, error) {
	if text == "" {
		return shard{0, 1}, nil
	}
	k, n, _ := strings.Cut(text, "/")
	index, errIndex := strconv.Atoi(k)
	count, errCount := strconv.Atoi(n)
	if errIndex != nil || errCount != nil || index < 1 || index > count {
		return shard{}, fmt.Errorf("--shard %s: it must be a share and their number, from 1/8 to 8/8 for eight machines", text)
	}
	return shard{index - 1, count}, nil
}

// of returns the share's scenarios. They are dealt out in turn, by their
// order, so that shares differ by one at most and neighbours, which take about
// as long as each other, are spread.
func (s shard) of(all []history.Event) []history.Event {
	var mine []history.Event
	for i, scenario := range all {
		if i%s.count == s.index {
			mine = append(mine, scenario)
		}
	}
	return mine
}
