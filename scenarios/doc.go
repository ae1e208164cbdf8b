// Package scenarios holds one Go test for each reported data-loss bug of
// online schema migration. See README.md for the list, and package harness
// for how a scenario runs.
package scenarios
