// Package enginetest holds no code: its tests run whole migrations on a real
// server and compare each with what MySQL's own ALTER makes of the same table.
//
// Read lab_test.go (a server, and workers that migrate side by side), then
// trial_test.go (one migration: rows, writes while it runs, the comparison).
// The tables of cases are types_test.go (one type into another), keys_test.go
// (what tells rows apart), clauses_test.go (everything else an ALTER can say)
// and misfits_test.go (rows that the new definition can't hold).
//
// In each migration half of the rows are written while it runs, at moments at
// which a proxy holds it: in the middle of the copy, after it, and just before
// the lock. So each combination is seen with rows that were copied and with
// rows that were applied. All values come from one seed.
package enginetest
