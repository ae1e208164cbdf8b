// Package engine migrates a MySQL table's schema while it is in use.
//
// Read Run: it is the story of a migration as a list of phases. The engine
// attaches to the binlog first and copies the table afterwards; every read
// of the original that decides what the shadow holds is a locking read. So a
// row is either seen by the copy, or its change comes through the stream, or
// both, and both write the same state.
package engine
