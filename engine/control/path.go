package control

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// maxPath is how long a socket's path may be on every system that we run on,
// with room for a temporary name beside it.
const maxPath = 90

// DefaultPath is where the socket of a table's migration is: in the system's
// folder for temporary files, under the names of server, schema and table.
func DefaultPath(server, schema, table string) string {
	name := "osc." + server + "." + schema + "." + table
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == 0 {
			return '_'
		}
		return r
	}, name)
	path := filepath.Join(os.TempDir(), name+".sock")
	if len(path) <= maxPath {
		return path
	}
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(os.TempDir(), "osc."+hex.EncodeToString(sum[:8])+".sock")
}
