// Package backfill copies the rows that the original already had.
//
// The original is cut into chunks of neighbouring keys, and each chunk is
// copied by one statement that reads under locks and writes. The borders are
// only borders: whatever they are, the chunks cover every key there can be,
// from before the first to after the last. Read Chunker, then Copier.
package backfill
