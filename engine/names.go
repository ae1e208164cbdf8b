package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"unicode/utf8"

	"rowproof/engine/ddl"
)

// names are the tables of one migration.
type names struct {
	original ddl.TableName
	shadow   ddl.TableName // _t_new
	old      ddl.TableName // _t_old
	control  ddl.TableName // _t_osc: markers, and the sign that the shadow is ours
}

// maxName is the length of a table name that MySQL allows, in characters.
const maxName = 64

func newNames(schema, table string) names {
	derived := func(suffix string) ddl.TableName {
		return ddl.TableName{Schema: schema, Name: derive(table, suffix)}
	}
	return names{
		original: ddl.TableName{Schema: schema, Name: table},
		shadow:   derived("_new"),
		old:      derived("_old"),
		control:  derived("_osc"),
	}
}

// derive makes _TABLE_SUFFIX. What is too long is cut, and told apart from
// others with the same beginning by a hash of the whole.
func derive(table, suffix string) string {
	name := "_" + table + suffix
	if utf8.RuneCountInString(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(table))
	mark := "_" + hex.EncodeToString(sum[:4])
	keep := maxName - utf8.RuneCountInString("_"+mark+suffix)
	return "_" + string([]rune(table)[:keep]) + mark + suffix
}

// defaultServerID picks a replica id that is unlikely to be a real one.
func defaultServerID() uint32 { return 0x52500000 | uint32(os.Getpid())&0xfffff }
