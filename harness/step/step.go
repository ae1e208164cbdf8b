// Package step names the moments that every schema-migration tool passes.
//
// Scenarios are written in steps; each subject brings a phrasebook that maps
// a step to the statements that this tool sends (see harness/wire). A tool
// without a step leaves it out of its phrasebook.
package step

// Step is one moment of a migration, named as the engine's own statement
// comments name it: /* osc:range-read */ is step.RangeRead.
type Step string

// The steps, in the order in which a migration passes them.
const (
	Preflight  Step = "preflight"  // reads the server's settings and the table
	Shadow     Step = "shadow"     // creates and alters the shadow table
	Attach     Step = "attach"     // reads the binlog position it will stream from
	Dump       Step = "dump"       // asks for the binlog stream
	Sentinel   Step = "sentinel"   // writes a row and waits for its event
	Checkpoint Step = "checkpoint" // saves its progress, for a later run
	RangeRead  Step = "range-read" // reads the range of keys to copy
	CopyNext   Step = "copy-next"  // finds the upper border of the next chunk
	CopyRead   Step = "copy-read"  // reads a chunk of the original into the tool
	CopyWrite  Step = "copy-write" // writes a chunk to the shadow
	Apply      Step = "apply"      // brings changed keys up to date in the shadow
	Index      Step = "index"      // builds secondary indexes of the shadow
	Verify     Step = "verify"     // compares original and shadow
	Lock       Step = "lock"       // locks writers out of the original
	Drain      Step = "drain"      // writes the marker that ends the stream
	Rename     Step = "rename"     // swaps the tables
	Unlock     Step = "unlock"     // lets writers in again
	Cleanup    Step = "cleanup"    // drops what the tool made for itself
)

// All returns every step, in the order in which a migration passes them.
func All() []Step {
	return []Step{
		Preflight, Shadow, Attach, Dump, Sentinel, Checkpoint, RangeRead, CopyNext, CopyRead, CopyWrite, Apply,
		Index, Verify, Lock, Drain, Rename, Unlock, Cleanup,
	}
}

// Writes reports whether a step writes rows of the shadow. Some tools do that
// in a transaction of several statements: the step is done once it ends.
func (s Step) Writes() bool { return s == CopyWrite || s == Apply }
