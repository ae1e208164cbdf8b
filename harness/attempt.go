package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rowproof/harness/fault"
	"rowproof/harness/subject"
)

// Attempt is one more run of the subject, once the run before it has ended.
type Attempt struct {
	Resume bool       // go on from what was left, by the subject's own flag for that
	Alter  string     // the text after ALTER TABLE t; "" is the scenario's
	Faults fault.Plan // armed once the run before has ended
}

// plan is all faults of the scenario. Those of later runs say which.
func (s Scenario) plan() fault.Plan {
	all := slices.Clone(s.Faults)
	for i, a := range s.Then {
		all = append(all, a.plan(i)...)
	}
	return all
}

func (a Attempt) plan(i int) fault.Plan { return a.Faults.In(fmt.Sprintf("run %d", i+2)) }

// finalAlter is the ALTER that the last run was given.
func (s Scenario) finalAlter() string {
	if n := len(s.Then); n > 0 && s.Then[n-1].Alter != "" {
		return s.Then[n-1].Alter
	}
	return s.Alter
}

// resumes reports whether a run goes on from what the one before has left.
func (s Scenario) resumes() bool {
	return slices.ContainsFunc(s.Then, func(a Attempt) bool { return a.Resume })
}

// attempts runs the subject as often as the scenario says, each time under
// the faults of that run. Record.Exit is how the last run ended, and
// Record.Earlier how those before it did.
func (r *run) attempts(ctx context.Context, target subject.Target, site *fault.Site) error {
	first := target
	first.Postpone = r.scenario.Postponed
	err := r.attempt(ctx, first, r.scenario.Faults, site)
	for i, a := range r.scenario.Then {
		if err != nil {
			return err
		}
		again := target
		again.Resume = a.Resume
		if a.Alter != "" {
			again.Alter = a.Alter
		}
		// What the run before had on the server must not be taken for a
		// migration that goes on.
		if err := site.AwaitGone(ctx); err != nil {
			return fmt.Errorf("run %d: %w", i+2, err)
		}
		r.record.Earlier = append(r.record.Earlier, r.record.Exit)
		err = r.attempt(ctx, again, a.plan(i), site)
	}
	return err
}

func (r *run) attempt(ctx context.Context, target subject.Target, faults fault.Plan, site *fault.Site) error {
	command, err := commandFor(ctx, r.under, site.Proxy.Addr(), target)
	if err != nil {
		return err
	}
	command = command.In(r.scenario.Zone)
	site.StartSecond = func(context.Context) (fault.Subject, error) { return r.startSecond(ctx, command) }
	armed := faults.Arm(ctx, site)
	err = r.await(ctx, command, site)
	// The faults end first: one of them may be what the rest waits for.
	return errors.Join(err, armed.Stop())
}

// missing is what the subject lacks of what the scenario needs.
func (r *run) missing() []string {
	missing := missingSteps(r.scenario.plan().Steps(), r.under.Phrasebook())
	if r.scenario.resumes() {
		switch resumer, can := r.under.(subject.Resumer); {
		case !can:
			missing = append(missing, "resume")
		case !r.scenario.Postponed && !resumer.SavesFirst():
			missing = append(missing, "progress that is saved before it copies")
		}
	}
	if c, ok := r.under.(subject.Chunker); ok && r.scenario.Chunk > 0 && r.scenario.Chunk < c.LeastChunk() {
		missing = append(missing, fmt.Sprintf("chunks of %d rows", r.scenario.Chunk))
	}
	return missing
}
