package topology

import (
	"time"

	"github.com/go-sql-driver/mysql"
)

// Account is a user of the servers, reachable from any host.
type Account struct {
	User     string
	Password string
}

// Root may do everything.
func Root() Account { return Account{"root", "rowproof-root"} }

// App is the application: it reads and writes every database and makes
// tables. It has no administrative privilege, so read_only stops it.
func App() Account { return Account{"app", "rowproof-app"} }

// Migrator has MigratorPrivileges and MigratorGlobalPrivileges, no more.
func Migrator() Account { return Account{"migrator", "rowproof-migrator"} }

// Tool is the account of a migration tool that is not ours. It may do
// everything, since each tool asks for other privileges.
func Tool() Account { return Account{"tool", "rowproof-tool"} }

// Replicator is the account of the replicas.
func Replicator() Account { return Account{"repl", "rowproof-repl"} }

// Database is the name of a database that Migrator may migrate; every name
// that starts with "rowproof_" is another. The servers start without it.
const Database = "rowproof"

// MigratorPrivileges returns what Migrator may do in its databases.
func MigratorPrivileges() []string {
	return []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "LOCK TABLES",
		"TRIGGER", "CREATE TEMPORARY TABLES"}
}

// MigratorGlobalPrivileges returns what Migrator may do on the server.
func MigratorGlobalPrivileges() []string {
	return []string{"REPLICATION SLAVE", "REPLICATION CLIENT", "PROCESS"}
}

// Config returns a driver configuration for a login to addr; database may
// be empty. The driver's own log is off: it writes a line to stderr for each
// connection that breaks, and here connections break on purpose.
func (a Account) Config(addr, database string) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd = a.User, a.Password
	cfg.Net, cfg.Addr = "tcp", addr
	cfg.DBName = database
	cfg.Timeout = 5 * time.Second
	cfg.Logger = &mysql.NopLogger{}
	return cfg
}
