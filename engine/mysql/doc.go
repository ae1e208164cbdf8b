// Package mysql holds what the engine knows of MySQL as a server:
// connections and their session settings, statement comments, errors that
// are worth another try, advisory locks, and reading a table's definition.
//
// Read Server first; every other type starts from one.
package mysql
