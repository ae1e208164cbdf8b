package subject_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rowproof/harness/step"
	"rowproof/harness/subject"
	"rowproof/harness/wire"
)

// said is a statement, in the shape in which a tool sends it, and the step
// that it must be recognised as.
type said struct {
	sql  string
	want step.Step
}

var ghOstSays = []said{
	{"show /* gh-ost */ grants for current_user()", step.Preflight},
	{"show /* gh-ost */ binary log status", ""},
	{"create /* gh-ost */ table `shop`.`_t_ghc` (\n\t\tid bigint auto_increment\n\t)", step.Shadow},
	{"create /* gh-ost */ table `shop`.`_t_gho` like `shop`.`t`", step.Shadow},
	{"alter /* gh-ost */ table `shop`.`_t_gho` add c int", step.Shadow},
	{"drop /* gh-ost */ table if exists `shop`.`_t_ghc`", ""},
	{"\n\t\tselect /* gh-ost */ *\n\t\tfrom\n\t\t\tinformation_schema.columns\n\t\twhere\n\t\t\ttable_schema='shop'\n\t\t\tand table_name='t'", ""},
	{"\n\t\tselect /* gh-ost */ *\n\t\tfrom\n\t\t\tinformation_schema.columns\n\t\twhere\n\t\t\ttable_schema='shop'\n\t\t\tand table_name='_t_gho'", step.Attach},
	{note("1", "heartbeat", "2026-01-01T00:00:00Z"), ""},
	{note("2", "state", "GhostTableMigrated"), ""},
	{note("2", "state", "ReadMigrationRangeValues"), step.Sentinel},
	{note("0", "state at 17", "ReadMigrationRangeValues"), step.Sentinel},
	{note("0", "state at 18", "Migrated"), ""},
	{"select /* gh-ost `shop`.`t` */ `id`\n\tfrom `shop`.`t`\n\tforce index (PRIMARY)\n\torder by `id` asc\n\tlimit 1", ""},
	{"select /* gh-ost `shop`.`t` */ `id`\n\tfrom `shop`.`t`\n\tforce index (PRIMARY)\n\torder by `id` desc\n\tlimit 1", step.RangeRead},
	{"select /* gh-ost `shop`.`t` iteration:4 */ `id` from `shop`.`t` where ((`id` > 1)) order by `id` asc limit 1 offset 9", step.CopyNext},
	{"select /* gh-ost `shop`.`t` iteration:4 */ `id` from (select `id` from `shop`.`t` limit 10) select_osc_chunk order by `id` desc limit 1", step.CopyNext},
	{"\n\tinsert /* gh-ost `shop`.`t` */ ignore\n\tinto `shop`.`_t_gho` (`id`, `a`)\n\t( select `id`, `a` from `shop`.`t` force index (`PRIMARY`) where ((`id` > 1)) lock in share mode )", step.CopyWrite},
	{"\n\tinsert /* gh-ost `shop`.`t` */ ignore\n\tinto `shop`.`_t_gho` (`id`, `a`)\n\t(select `id`, `a` from `shop`.`t` where `id` = 1 and `a` >= 2) union all (select `id`, `a` from `shop`.`t` where `id` > 1)", step.CopyWrite},
	{"\n\tinsert /* gh-ost `shop`.`_t_gho` */ ignore\n\tinto `shop`.`_t_gho` (`id`) values (7)", step.Apply},
	{"\n\tupdate /* gh-ost `shop`.`_t_gho` */ `shop`.`_t_gho` set `a`=1 where ((`id` = 7));\n\tdelete ...", step.Apply},
	{"delete /* gh-ost `shop`.`_t_gho` */ from `shop`.`_t_gho` where ((`id` = 7))", step.Apply},
	{"lock /* gh-ost */ tables `shop`.`t` write, `shop`.`_t_del` write", step.Lock},
	{note("2", "state", "AllEventsUpToLockProcessed:1796"), step.Drain},
	{"rename /* gh-ost */ table `shop`.`t` to `shop`.`_t_del`, `shop`.`_t_gho` to `shop`.`t`", step.Rename},
	{"alter /* gh-ost */ table `shop`.`t` rename `_t_del`", step.Rename},
	{"alter /* gh-ost */ table `shop`.`_t_gho` rename `t`", step.Rename},
	{"unlock /* gh-ost */ tables", step.Unlock},
	{note("2", "state", "Migrated"), step.Cleanup},
}

// ghOstResumableSays is what gh-ost says in other words, or besides, where it
// can be resumed.
var ghOstResumableSays = []said{
	{"\n\t\tselect /* gh-ost */ count(*) as num_triggers\n\t\tfrom\n\t\t\tinformation_schema.triggers", ""},
	{"select /* gh-ost */ count(*) as count_rows from `shop`.`t`", step.Attach},
	{"\n\t\tinsert /* gh-ost */\n\t\tinto `shop`.`_t_ghk`\n\t\t\t(gh_ost_chk_timestamp, gh_ost_chk_coords)", step.Checkpoint},
}

func TestPhrasebookOfResumable(t *testing.T) {
	book := foreign(t, "gh-ost").(subject.Resumer).Resumable().Phrasebook()
	for _, s := range slices.Concat(ghOstSays, ghOstResumableSays) {
		got, want := book.Step(wire.KindQuery, s.sql), s.want
		if strings.Contains(s.sql, "information_schema.columns") {
			want = ""
		}
		if got != want {
			t.Errorf("%q: got step %q, want %q", s.sql, got, want)
		}
	}
}

func note(id, hint, value string) string {
	return "\n\tinsert /* gh-ost */\n\tinto\n\t\t`shop`.`_t_ghc`\n\t\t(id, hint, value)\n\tvalues\n\t\t(NULLIF(" + id + ", 0), '" + hint + "', '" + value + "')\n\ton duplicate key update value=VALUES(value)"
}

var spiritSays = []said{
	{"SELECT @@global.binlog_format, @@global.log_bin", step.Preflight},
	{"SELECT IFNULL(min(`id`),'0'), IFNULL(max(`id`),'0') FROM `t`", ""},
	{"CREATE TABLE `_t_new` LIKE `t`", step.Shadow},
	{"ALTER TABLE `_t_new` ADD c INT, ALGORITHM=COPY", step.Shadow},
	{"CREATE TABLE `_t_chkpnt` (id int)", ""},
	{"SELECT @@GLOBAL.gtid_executed", step.Attach},
	{"SHOW BINARY LOG STATUS", step.Attach},
	{"SELECT `id`, `a` FROM `t` FORCE INDEX (PRIMARY) WHERE `id` < 1", step.CopyRead},
	{"SELECT `id`, `a` FROM `t` FORCE INDEX (PRIMARY) WHERE `id` >= 1 AND `id` < 1001", step.CopyRead},
	{"SELECT `id`, `a` FROM `t` FORCE INDEX (PRIMARY) WHERE `id` >= 1001", step.RangeRead},
	{"SELECT `id`, `a` FROM `t` FORCE INDEX (PRIMARY) WHERE 1=1", step.RangeRead},
	{"SELECT `id` FROM `t` FORCE INDEX (`PRIMARY`) ORDER BY `id` LIMIT 1 OFFSET 1000", step.CopyNext},
	{"INSERT IGNORE INTO `_t_new` (`id`) VALUES (1), (2)", step.CopyWrite},
	{"REPLACE INTO `_t_new` (`id`) VALUES (2)", step.Apply},
	{"DELETE FROM `_t_new` WHERE (`id`) IN ((2))", step.Apply},
	{"SELECT BIT_XOR(CRC32(CONCAT(`id`))) as checksum, count(*) as c FROM `t` WHERE 1=1", step.Verify},
	{"LOCK TABLES `t` WRITE, `_t_new` WRITE", step.Lock},
	{"RENAME TABLE `t` TO `_t_old_20260101_000000`, `_t_new` TO `t`", step.Rename},
	{"UNLOCK TABLES", step.Unlock},
	{"DROP TABLE IF EXISTS `_t_new`", ""},
	{"SELECT RELEASE_ALL_LOCKS()", step.Cleanup},
}

var ptOscSays = []said{
	{"SHOW TRIGGERS FROM `shop` LIKE 't'", step.Preflight},
	{"CREATE TABLE `shop`.`_t_new` (\n  `id` int NOT NULL\n)", step.Shadow},
	{"CREATE TABLE `shop`.`__t_new` (`id` int)", step.Shadow},
	{"ALTER TABLE `shop`.`_t_new` ADD c INT", step.Shadow},
	{"CREATE TRIGGER `pt_osc_shop_t_del` AFTER DELETE ON `shop`.`t` FOR EACH ROW BEGIN END", step.Attach},
	{"SELECT `id` FROM `shop`.`t` FORCE INDEX(`PRIMARY`) ORDER BY `id` LIMIT 1 /*first lower boundary*/", step.RangeRead},
	{"SELECT `id` FROM `shop`.`t` WHERE ((`id` >= '1')) ORDER BY `id` LIMIT 199, 2 /*next chunk boundary*/", step.CopyNext},
	{"EXPLAIN SELECT `id` FROM `shop`.`t` WHERE ((`id` >= '1')) ORDER BY `id` LIMIT 199, 2 /*next chunk boundary*/", ""},
	{"EXPLAIN SELECT `id` FROM `shop`.`t` LOCK IN SHARE MODE /*explain pt-online-schema-change 9 copy table*/", ""},
	{"INSERT LOW_PRIORITY IGNORE INTO `shop`.`_t_new` (`id`) SELECT `id` FROM `shop`.`t` LOCK IN SHARE MODE /*pt-online-schema-change 9 copy table*/", step.CopyWrite},
	{"INSERT LOW_PRIORITY IGNORE INTO `shop`.`_t_new` (`id`) SELECT `id` FROM `shop`.`t` WHERE ((`id` >= '1')) LOCK IN SHARE MODE /*pt-online-schema-change 9 copy nibble*/", step.CopyWrite},
	{"RENAME TABLE `shop`.`t` TO `shop`.`_t_old`, `shop`.`_t_new` TO `shop`.`t`", step.Rename},
	{"DROP TRIGGER IF EXISTS `shop`.`pt_osc_shop_t_del`", step.Cleanup},
}

func TestPhrasebooks(t *testing.T) {
	lacks := map[string][]step.Step{
		"gh-ost": {step.Checkpoint, step.CopyRead, step.Index, step.Verify},
		"spirit": {step.Sentinel, step.Checkpoint, step.Index, step.Drain},
		"pt-osc": {step.Dump, step.Sentinel, step.Checkpoint, step.CopyRead, step.Apply, step.Index, step.Verify, step.Lock, step.Drain, step.Unlock},
	}
	for name, says := range map[string][]said{"gh-ost": ghOstSays, "spirit": spiritSays, "pt-osc": ptOscSays} {
		t.Run("OK/"+name, func(t *testing.T) {
			book := foreign(t, name).Phrasebook()
			met := map[step.Step]bool{step.Dump: true}
			for _, s := range says {
				if got := book.Step(wire.KindQuery, s.sql); got != s.want {
					t.Errorf("%q: got step %q, want %q", s.sql, got, s.want)
				}
				met[s.want] = true
			}
			for _, s := range step.All() {
				if want := !contains(lacks[name], s); book.Has(s) != want {
					t.Errorf("has %s: got %v, want %v", s, book.Has(s), want)
				} else if want && !met[s] {
					t.Errorf("no statement here is %s", s)
				}
			}
		})
	}
}

func contains(list []step.Step, s step.Step) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// foreign returns a tool's subject, with a program that stands in for its own.
func foreign(t *testing.T, name string) subject.Subject {
	t.Helper()
	if name != "pt-osc" {
		name += "=" + script(t, "exit 0")
	}
	s, err := subject.Parse(newBuild(t, "testdata/tiny"), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// script writes a program.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
