package backfill

import (
	"context"
	"sync"
	"time"

	"rowproof/engine/ddl"
)

// Feed hands the chunks of one pass over the table to several workers, and
// keeps account of which are done.
type Feed struct {
	chunker *Chunker // under asking

	asking sync.Mutex // one border at a time: each starts where the last ended

	mu       sync.Mutex
	sizer    Sizer
	finished map[int]Chunk // done, but a chunk before them is not
	whole    int           // every chunk up to this number is done
	mark     ddl.Tuple     // its upper end
	rows     int64         // in all chunks that are done
	chunks   int           // that are done
}

// NewFeed returns a feed of the chunker's chunks, sized by the sizer.
func NewFeed(chunker *Chunker, sizer Sizer) *Feed {
	return &Feed{chunker: chunker, sizer: sizer, finished: map[int]Chunk{}, mark: chunker.chunk.Range.UpTo}
}

// Next returns the next chunk, and false after the last.
func (f *Feed) Next(ctx context.Context) (Chunk, bool, error) {
	f.asking.Lock()
	defer f.asking.Unlock()
	f.mu.Lock()
	f.chunker.rows = f.sizer.Rows
	f.mu.Unlock()
	return f.chunker.Next(ctx)
}

// Done says that a chunk is done, how many rows it had and how long it took.
func (f *Feed) Done(chunk Chunk, rows int64, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sizer.Took(rows, took)
	f.rows += rows
	f.chunks++
	f.finished[chunk.Number] = chunk
	for {
		next, ok := f.finished[f.whole+1]
		if !ok {
			return
		}
		delete(f.finished, f.whole+1)
		f.whole++
		f.mark = next.Range.UpTo
	}
}

// Aim changes the time that a chunk is to take. It has no effect on chunks
// of a fixed size.
func (f *Feed) Aim(goal time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sizer.Goal != 0 {
		f.sizer.Goal = goal
	}
}

// Resize sizes the chunks that follow in another way.
func (f *Feed) Resize(sizer Sizer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sizer = sizer
}

// Watermark returns a key up to which every chunk is done. It is nil before
// the first is, and after the last, which has no upper end.
func (f *Feed) Watermark() ddl.Tuple {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mark
}

// Total returns the number of rows and chunks that are done.
func (f *Feed) Total() (rows int64, chunks int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rows, f.chunks
}
