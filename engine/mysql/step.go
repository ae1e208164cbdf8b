package mysql

// Step names the statement's place in the migration, for whoever reads the
// process list, the binlog or the wire: Step("copy-write", q) is
// "/* osc:copy-write */ " + q.
func Step(name, query string) string { return "/* osc:" + name + " */ " + query }
