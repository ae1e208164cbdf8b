// Package script reads a bug report out of a text file: a scenario for people
// who write no Go. The file's syntax is HCL, and docs/bug-report.md tells what
// stands in it.
//
// Read Parse first: it turns a file into a harness.Scenario, without a server,
// and names every problem by file and line. catalogue.go is the one list of
// what a file can call; a test compares it with package fault. Go writes a
// report as the Go test that it is equal to, and Run runs the files that the
// environment names.
package script
