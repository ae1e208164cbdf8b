// Package harness runs scenarios: one bug, the fault that opens its window,
// and what must hold. It drives real servers and a real tool, and judges the
// data afterwards.
//
// Read Scenario first, then Suite.Run, which runs it against each subject:
// our engine, our engine with its verify pass, and the control, which has
// the bug and must be found out. A run is the steps in run.go.
package harness
