package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"rowproof/harness/topology"
)

// SecondRun starts the subject once more beside itself, on the same table and
// through the same proxy. It goes on until it ends by itself; one that is
// still there after half of the time that remains when it should end is
// killed.
func SecondRun() Action {
	return lasting("a second run of the subject", func(ctx context.Context, s *Site) (func(context.Context) error, error) {
		if s.StartSecond == nil {
			return nil, errors.New("this subject can't be started a second time")
		}
		before, err := s.sessions(ctx)
		if err != nil {
			return nil, err
		}
		second, err := s.StartSecond(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		end := func(ctx context.Context) error { return endSecond(ctx, second) }
		err = every(ctx, func() (bool, error) {
			select {
			case <-second.Done():
				return true, nil
			default:
			}
			now, err := s.sessions(ctx)
			return now > before, err
		})
		if err != nil {
			return nil, errors.Join(err, kill(second))
		}
		return end, nil
	})
}

// AwaitGone returns once the server has no session of the subject any more:
// it may notice only after a while that one has died. Streams it notices when
// it has something to send, ten seconds later or so, so they are ended.
func (s *Site) AwaitGone(ctx context.Context) error {
	streams, err := SubjectStreams().find(ctx, s)
	if err != nil {
		return err
	}
	for _, stream := range streams {
		if err := stream.kill(ctx, "CONNECTION"); err != nil {
			return err
		}
	}
	return seen(ctx, "the subject's sessions are gone", func(ctx context.Context) (bool, error) {
		n, err := s.sessions(ctx)
		return n == 0, err
	})
}

// sessions counts the sessions of those as whom subjects log in.
func (s *Site) sessions(ctx context.Context) (n int, err error) {
	err = s.Cluster.Source().DB.QueryRowContext(ctx,
		"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER IN (?, ?)", topology.Migrator().User, topology.Tool().User).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the subject's sessions: %w", err)
	}
	return n, nil
}

func endSecond(ctx context.Context, second Subject) error {
	var late <-chan time.Time
	if deadline, ok := ctx.Deadline(); ok {
		timer := time.NewTimer(time.Until(deadline) / 2)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-second.Done():
		return nil
	case <-ctx.Done():
	case <-late:
	}
	return kill(second)
}

// kill kills a subject and waits for its end, which nothing can delay.
func kill(subject Subject) error {
	if err := subject.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-subject.Done()
	return nil
}
