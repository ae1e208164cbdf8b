package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rowproof/harness/freeze"
)

// freezeLimit is how long a thread stands at most, whatever becomes of the
// run: other threads may wait for it for ever.
const freezeLimit = time.Minute

// Freeze makes the threads of these sessions stand still, wherever they are,
// while all other threads of their servers go on. End lets them go on; after
// a minute they do by themselves, and then End is an error.
//
// It needs the performance schema, the Docker engine on this machine, and
// root or CAP_SYS_PTRACE.
func Freeze(which Sessions) Action {
	return lasting("freeze "+which.name, func(ctx context.Context, s *Site) (func(context.Context) error, error) {
		if err := needThreads(s); err != nil {
			return nil, err
		}
		sessions, err := which.all(ctx, s)
		if err != nil {
			return nil, err
		}
		var frozen []*freeze.Thread
		thaw := func(context.Context) error {
			var errs []error
			for _, t := range frozen {
				errs = append(errs, t.Thaw())
			}
			return errors.Join(errs...)
		}
		for _, one := range sessions {
			thread, err := one.freeze(ctx)
			if err != nil {
				return nil, errors.Join(err, thaw(ctx))
			}
			frozen = append(frozen, thread)
		}
		return thaw, nil
	})
}

func (one sessionOn) freeze(ctx context.Context) (*freeze.Thread, error) {
	var inside int
	query := "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = ?"
	if err := one.server.DB.QueryRowContext(ctx, query, one.id).Scan(&inside); err != nil {
		return nil, fmt.Errorf("find the thread of session %d of %s: %w", one.id, one.server.Name, err)
	}
	pid, err := one.server.PID(ctx)
	if err != nil {
		return nil, err
	}
	id, err := freeze.HostThread(pid, inside)
	if err != nil {
		return nil, err
	}
	// It outlives the fault, and ends with the site.
	thread, err := freeze.Freeze(context.WithoutCancel(ctx), id, freezeLimit)
	if err != nil {
		return nil, err
	}
	if state, err := freeze.State(id); err != nil || state != "t" {
		return nil, errors.Join(fmt.Errorf("freeze session %d of %s: its thread is in state %q", one.id, one.server.Name, state), err, thread.Thaw())
	}
	return thread, nil
}
