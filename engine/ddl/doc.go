// Package ddl knows what an ALTER does to a table's rows, and writes the SQL
// that makes a shadow table follow an original one.
//
// It is pure: it never talks to a server. The caller reads information_schema
// into Table, before and after the server itself has run the ALTER on the
// shadow; the difference of the two tables, not the text of the ALTER, decides
// wherever both could.
//
// Read it in this order: column.go and table.go (the model), alter.go (the
// text), mapping.go and pair.go (which column feeds which, and how), key.go
// (how rows are told apart), literal.go (how key values travel as text),
// plan.go (the statements), compare.go and converted.go (how the verify pass
// looks at a pair of columns), probe.go (how duplicates are found), checks.go
// (what constraints are called).
//
// All statements expect a session in strict mode with NO_AUTO_VALUE_ON_ZERO,
// without ANSI_QUOTES, NO_BACKSLASH_ESCAPES and PAD_CHAR_TO_FULL_LENGTH, with
// NO_ZERO_DATE and NO_ZERO_IN_DATE only where Mapping.MakesDates and the
// server say so, with TIME_TRUNCATE_FRACTIONAL as the server has it, with
// character_set_client utf8mb4, and with time_zone '+00:00' unless
// Mapping.CrossesZones says otherwise.
package ddl
