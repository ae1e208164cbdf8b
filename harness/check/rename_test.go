package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
)

func TestRenames(t *testing.T) {
	for sql, want := range map[string][]check.Rename{
		"RENAME TABLE a TO b": {{"a", "b"}},
		"/* osc:rename */ rename table `db`.`a``x` to `db`.`b`, db.`c d` TO e": {{"a`x", "b"}, {"c d", "e"}},
		"rename /* gh-ost */ table `d`.`t` to `d`.`_t_del`, `d`.`_t_gho` to t": {{"t", "_t_del"}, {"_t_gho", "t"}},
		"ALTER TABLE `d`.`t` RENAME TO `_t_old`":                               {{"t", "_t_old"}},
		"alter table t rename _t_old":                                          {{"t", "_t_old"}},
		"ALTER TABLE t RENAME COLUMN a TO b":                                   nil,
		"ALTER TABLE t ADD COLUMN a INT":                                       nil,
		"DROP TABLE t":                                                         nil,
	} {
		if d := cmp.Diff(want, check.Renames(sql)); d != "" {
			t.Errorf("%s (-want +got):\n%s", sql, d)
		}
	}
}
