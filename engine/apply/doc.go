// Package apply brings the shadow's rows up to date with the original's.
//
// It knows no values, only keys: for a key that changed, it reads the row's
// present state from the original under a lock, and writes that, or deletes
// the shadow row if there is none. The lock matters: an event reaches us
// before its transaction commits when a semi-sync ACK is awaited, when XA is
// prepared, or when the commit order differs from the binlog's, and a plain
// read would then find the old row. Read Applier, then Writer.
package apply
