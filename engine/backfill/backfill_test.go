package backfill

import (
	"testing"
	"time"

	"rowproof/engine/ddl"
)

func TestSizer(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Sizer
		rows int64
		took time.Duration
		want int
	}{
		{"fixed", Sizer{Rows: 1000}, 1000, time.Minute, 1000},
		{"on time", Sizer{Rows: 1000, Goal: 10 * time.Millisecond}, 1000, 10 * time.Millisecond, 1000},
		{"too slow", Sizer{Rows: 1000, Goal: 10 * time.Millisecond}, 1000, 40 * time.Millisecond, 250},
		{"fast: twice at most", Sizer{Rows: 1000, Goal: 10 * time.Millisecond}, 1000, time.Millisecond, 2000},
		{"never too few", Sizer{Rows: 1000, Goal: 10 * time.Millisecond}, 1000, time.Hour, fewestRows},
		{"never too many", Sizer{Rows: mostRows, Goal: time.Hour}, mostRows, time.Millisecond, mostRows},
		{"an empty chunk says nothing", Sizer{Rows: 1000, Goal: 10 * time.Millisecond}, 0, time.Millisecond, 1000},
		{"a nearly empty chunk is no reason to grow", Sizer{Rows: 1000, Goal: 10 * time.Millisecond}, 10, time.Microsecond, 1000},
	} {
		c.s.Took(c.rows, c.took)
		if c.s.Rows != c.want {
			t.Errorf("%s: got %d rows, want %d", c.name, c.s.Rows, c.want)
		}
	}
}

// The watermark must never pass a chunk that is still being copied: a run
// that is resumed there would leave it out.
func TestFeedWatermark(t *testing.T) {
	f := NewFeed(&Chunker{}, Sizer{Rows: 1})
	chunk := func(n int, upTo string) Chunk {
		c := Chunk{Number: n}
		if upTo != "" {
			c.Range.UpTo = ddl.Tuple{upTo}
		}
		return c
	}
	for _, step := range []struct {
		done Chunk
		want string
	}{
		{chunk(2, "20"), ""},
		{chunk(1, "10"), "20"},
		{chunk(4, "40"), "20"},
		{chunk(5, ""), "20"},
		{chunk(3, "30"), ""}, // the last chunk, number 5, is open: all is done
	} {
		f.Done(step.done, 1, time.Millisecond)
		if got := f.Watermark().String(); got != step.want {
			t.Errorf("after chunk %d: got watermark %q, want %q", step.done.Number, got, step.want)
		}
	}
}
