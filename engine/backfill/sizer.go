package backfill

import "time"

// Sizer fits the number of rows in a chunk to the time that a chunk is to
// take. Rows stay locked while their chunk is copied, so that time is also
// how long a writer may have to wait for one.
type Sizer struct {
	Rows int           // of the next chunk
	Goal time.Duration // 0: Rows stays as it is
}

// Bounds of a chunk that is fitted. The upper one keeps a transaction within
// what a binlog cache holds without trouble.
const (
	fewestRows = 100
	mostRows   = 50_000
)

// Took tells how long a chunk of that many rows took. Growth is slow, for
// one fast chunk proves little; shrinking is at once, for somebody waits.
func (s *Sizer) Took(rows int64, took time.Duration) {
	if s.Goal == 0 || rows <= 0 || took <= 0 {
		return
	}
	fitting := int(float64(rows) * s.Goal.Seconds() / took.Seconds())
	if int(rows) < s.Rows/2 && fitting > s.Rows {
		return // a chunk that was nearly empty says nothing of full ones
	}
	s.Rows = max(fewestRows, min(fitting, 2*s.Rows, mostRows))
}
