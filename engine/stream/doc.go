// Package stream turns the source's binlog into changes of one table.
//
// A change says only that the row under a key is not what it was: the value
// is read back from the original later, under a lock. So replaying a part of
// the binlog twice is harmless, and missing a part is not; everything here
// follows from that. Read Stream.Run first.
package stream
