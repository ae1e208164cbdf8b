package ddl_test

import (
	"errors"
	"testing"

	"rowproof/engine/ddl"
)

var orders = ddl.TableName{Schema: "shop", Name: "orders"}

func TestParseAlter(t *testing.T) {
	seven := uint64(7)
	for _, c := range []struct {
		name  string
		alter string
		want  ddl.Alter
	}{
		{"OK add", "ADD COLUMN a INT NOT NULL DEFAULT 5 AFTER b",
			ddl.Alter{Text: "ADD COLUMN a INT NOT NULL DEFAULT 5 AFTER b", Added: []string{"a"}}},
		{"OK add several", "ADD (a INT, `b``c` VARCHAR(3) COMMENT 'x, y'), DROP c",
			ddl.Alter{Text: "ADD (a INT, `b``c` VARCHAR(3) COMMENT 'x, y'), DROP c", Added: []string{"a", "b`c"}, Dropped: []string{"c"}}},
		{"OK full statement", " alter  TABLE `shop`.`orders` ENGINE=InnoDB ; -- rebuild",
			ddl.Alter{Text: "ENGINE=InnoDB"}},
		{"OK full statement without schema", "ALTER TABLE /* mine */ orders FORCE", ddl.Alter{Text: "FORCE"}},
		{"OK column default", "ALTER a SET DEFAULT 5, ALTER COLUMN b DROP DEFAULT",
			ddl.Alter{Text: "ALTER a SET DEFAULT 5, ALTER COLUMN b DROP DEFAULT"}},
		{"OK swap", "RENAME COLUMN a TO b, RENAME COLUMN b TO a",
			ddl.Alter{Text: "RENAME COLUMN a TO b, RENAME COLUMN b TO a", Renames: []ddl.Rename{{"a", "b"}, {"b", "a"}}}},
		{"OK change", "CHANGE a A BIGINT, CHANGE COLUMN b b INT FIRST, CHANGE c `d e` JSON",
			ddl.Alter{Text: "CHANGE a A BIGINT, CHANGE COLUMN b b INT FIRST, CHANGE c `d e` JSON", Renames: []ddl.Rename{{"a", "A"}, {"c", "d e"}}}},
		{"OK drop and add again", "DROP COLUMN a, ADD COLUMN a INT",
			ddl.Alter{Text: "DROP COLUMN a, ADD COLUMN a INT", Added: []string{"a"}, Dropped: []string{"a"}}},
		{"OK modifiers are cut out", "ALGORITHM=INPLACE, ADD a INT DEFAULT (f(1,2)), LOCK = NONE, WITHOUT VALIDATION",
			ddl.Alter{Text: "ADD a INT DEFAULT (f(1,2))", Added: []string{"a"}, Ignored: []string{
				"ALGORITHM=INPLACE: the table is copied row by row, writers are never locked out for long",
				"LOCK = NONE: the table is copied row by row, writers are never locked out for long",
				"WITHOUT VALIDATION: every row is validated when it is copied"}}},
		{"OK a word of a modifier elsewhere", "ADD COLUMN `lock` INT COMMENT 'ALGORITHM=COPY, LOCK=NONE', DROP COLUMN algorithm",
			ddl.Alter{Text: "ADD COLUMN `lock` INT COMMENT 'ALGORITHM=COPY, LOCK=NONE', DROP COLUMN algorithm", Added: []string{"lock"}, Dropped: []string{"algorithm"}}},
		{"OK auto increment", "AUTO_INCREMENT=7 COMMENT='it''s \\'quoted\\''",
			ddl.Alter{Text: "AUTO_INCREMENT=7 COMMENT='it''s \\'quoted\\''", AutoIncrement: &seven}},
		{"OK charset", "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
			ddl.Alter{Text: "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"}},
		{"OK keys", "DROP PRIMARY KEY, ADD PRIMARY KEY (a, b DESC), ADD UNIQUE u ((LOWER(c))), DROP INDEX i, RENAME INDEX j TO k, ADD FULLTEXT (c), ALTER INDEX x INVISIBLE",
			ddl.Alter{Text: "DROP PRIMARY KEY, ADD PRIMARY KEY (a, b DESC), ADD UNIQUE u ((LOWER(c))), DROP INDEX i, RENAME INDEX j TO k, ADD FULLTEXT (c), ALTER INDEX x INVISIBLE"}},
		{"OK types", "ADD g POINT NOT NULL SRID 4326 INVISIBLE, ADD v VECTOR(3), ADD j JSON DEFAULT (JSON_ARRAY()), ADD s INT AS (a+1) STORED, ADD u CHAR(36) DEFAULT (UUID())",
			ddl.Alter{Text: "ADD g POINT NOT NULL SRID 4326 INVISIBLE, ADD v VECTOR(3), ADD j JSON DEFAULT (JSON_ARRAY()), ADD s INT AS (a+1) STORED, ADD u CHAR(36) DEFAULT (UUID())",
				Added: []string{"g", "v", "j", "s", "u"}}},
		{"OK partitions", "PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)",
			ddl.Alter{Text: "PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)"}},
		{"OK add partition", "ADD PARTITION (PARTITION p2 VALUES LESS THAN (20))", ddl.Alter{Text: "ADD PARTITION (PARTITION p2 VALUES LESS THAN (20))"}},
		{"OK reorganize partitions", "REORGANIZE PARTITION p0, p1 INTO (PARTITION p VALUES LESS THAN (10))",
			ddl.Alter{Text: "REORGANIZE PARTITION p0, p1 INTO (PARTITION p VALUES LESS THAN (10))"}},
		{"OK remove partitioning", "ADD a INT REMOVE PARTITIONING", ddl.Alter{Text: "ADD a INT REMOVE PARTITIONING", Added: []string{"a"}}},
		{"OK column checks", "ADD a INT CHECK (a > (0)) NOT ENFORCED COMMENT 'c', ADD (b INT CONSTRAINT x CHECK (b), c DOUBLE PRECISION, CHECK (b > c)), ALTER CONSTRAINT y ENFORCED",
			ddl.Alter{Text: "ADD a INT CHECK (a > (0)) NOT ENFORCED COMMENT 'c', ADD (b INT CONSTRAINT x CHECK (b), c DOUBLE PRECISION, CHECK (b > c)), ALTER CONSTRAINT y ENFORCED",
				Added: []string{"a", "b", "c"}}},
		{"OK indexes among columns", "ADD (a INT, KEY ka (a, b), UNIQUE ub (b(3)), b INT COMMENT 'x, KEY y (z)', PRIMARY KEY (b)), ADD COLUMN (c INT, INDEX (c))",
			ddl.Alter{Text: "ADD (a INT, KEY ka (a, b), UNIQUE ub (b(3)), b INT COMMENT 'x, KEY y (z)', PRIMARY KEY (b)), ADD COLUMN (c INT, INDEX (c))",
				Added: []string{"a", "b", "c"}}},
		{"OK more partitions", "ADD PARTITION PARTITIONS 2", ddl.Alter{Text: "ADD PARTITION PARTITIONS 2"}},
		{"OK check", "ADD CONSTRAINT c CHECK (a > 0) NOT ENFORCED", ddl.Alter{Text: "ADD CONSTRAINT c CHECK (a > 0) NOT ENFORCED"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ddl.ParseAlter(orders, c.alter, "9.7.4")
			noError(t, err)
			same(t, got, c.want)
		})
	}
}

func TestParseAlterRefuses(t *testing.T) {
	for _, c := range []struct{ name, alter, what string }{
		{"ErrRename", "RENAME TO t2", "RENAME TO t2"},
		{"ErrOrderBy", "ADD a INT, ORDER BY b", "ORDER BY"},
		{"ErrDiscard", "DISCARD TABLESPACE", "DISCARD TABLESPACE"},
		{"ErrImport", "IMPORT TABLESPACE", "IMPORT TABLESPACE"},
		{"ErrDropPartition", "DROP PARTITION p0, p1", "drop partition p0, p1"},
		{"ErrTruncatePartition", "TRUNCATE PARTITION ALL", "truncate partition"},
		{"ErrExchangePartition", "EXCHANGE PARTITION p0 WITH TABLE t2", "exchange partition p0"},
		{"ErrDiscardPartition", "DISCARD PARTITION p0 TABLESPACE", "discard partition p0"},
		{"ErrRebuildPartition", "REBUILD PARTITION p0", "rebuild partition p0"},
		{"ErrForeignKey", "ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)", "ADD FOREIGN KEY"},
		{"ErrReference", "ADD a INT REFERENCES p (id)", "REFERENCES on column `a`"},
		{"ErrReferenceChange", "CHANGE a a INT REFERENCES p (id)", "REFERENCES on column `a`"},
		{"ErrReferenceModify", "MODIFY a INT REFERENCES p (id)", "REFERENCES on column `a`"},
		{"ErrDropForeignKey", "DROP FOREIGN KEY f", "DROP FOREIGN KEY f"},
		{"ErrEngine", "ENGINE = MyISAM", "ENGINE=MyISAM"},
		{"ErrStatements", "ADD a INT; DROP TABLE x", "several statements"},
		{"ErrVersionComment", "ADD a INT /*!80000 INVISIBLE */", "version comment /*!80000 INVISIBLE */"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ddl.ParseAlter(orders, c.alter, "8.4.0")
			refused(t, err, c.what)
		})
	}
}

func TestParseAlterErrors(t *testing.T) {
	for _, c := range []struct{ name, alter, want string }{
		{"ErrEmpty", "", "there is no clause"},
		{"ErrOnlyTable", "ALTER TABLE orders", "there is no clause"},
		{"ErrOnlyModifiers", "ALGORITHM=COPY, LOCK=NONE", "only says how"},
		{"ErrSyntax", "ADD COLUMN a INT,\n DROPP b", "syntax error at position 24 near 'DROPP' of: ADD COLUMN a INT, DROPP b"},
		{"ErrEnd", "ADD COLUMN", "syntax error at the end of: ADD COLUMN"},
		{"ErrQuote", "ADD COLUMN `a INT", "quote without end near '`a INT'"},
		{"ErrComment", "ADD a INT /* why", "comment without end"},
		{"ErrOtherTable", "ALTER TABLE shop.items ADD a INT", "it names table shop.items, the migration is of shop.orders"},
		{"ErrNoTable", "ALTER TABLE", "name of the table is missing"},
		{"ErrLock", "ADD a INT, LOCK=SOME", "syntax error"},
		{"ErrNoClause", "LOCK=NONE, , ADD a INT", "syntax error"},
		{"ErrOtherStatement", "DROP TABLE orders", "syntax error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ddl.ParseAlter(orders, c.alter, "8.0.36-28")
			fails(t, err, c.want)
			if r := new(ddl.Refusal); errors.As(err, &r) {
				t.Errorf("got a refusal, want a plain error: %v", err)
			}
		})
	}
	t.Run("ErrVersion", func(t *testing.T) {
		_, err := ddl.ParseAlter(orders, "FORCE", "new")
		fails(t, err, `server version "new" has no number`)
	})
}
