// Package checkpoint keeps the progress of a migration in its control table,
// so that a run which died can be taken up where it was.
//
// A checkpoint says that two things are in the shadow, durably: what the
// binlog holds before a position, and every row up to a key. Both may be
// behind what really is there; replaying a change and copying a row again do
// no harm. Neither may ever be ahead. Read Document, then Store.
package checkpoint
