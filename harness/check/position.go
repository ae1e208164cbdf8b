package check

import (
	"strconv"
	"strings"
)

// compareFiles orders binlog files: the number grows by a digit after 999999.
func compareFiles(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// contains reports whether a GTID set holds one GTID.
func contains(set, gtid string) bool {
	at := strings.LastIndex(gtid, ":")
	if at < 0 {
		return false
	}
	n, err := strconv.ParseInt(gtid[at+1:], 10, 64)
	if err != nil {
		return false
	}
	for source := range strings.SplitSeq(set, ",") {
		intervals, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(source)), strings.ToLower(gtid[:at])+":")
		if !ok {
			continue
		}
		for interval := range strings.SplitSeq(intervals, ":") {
			from, to, ranged := strings.Cut(interval, "-")
			if !ranged {
				to = from
			}
			x, errX := strconv.ParseInt(from, 10, 64)
			y, errY := strconv.ParseInt(to, 10, 64)
			if errX == nil && errY == nil && x <= n && n <= y {
				return true
			}
		}
	}
	return false
}
