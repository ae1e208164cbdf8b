// Package fault opens race windows: it does things to servers and data at
// exact moments of a migration.
//
// Read Plan first: a plan is a list of faults, and each is a moment and what
// happens then. Moments lie on the subject's wire, so that every tool passes
// them. Each kind of action is one file. A fault that never fired makes a run
// Unknown, so each action proves itself before it counts as fired.
package fault
