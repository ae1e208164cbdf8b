package ddl_test

import (
	"testing"

	"rowproof/engine/ddl"
)

func TestKeyLiteral(t *testing.T) {
	for _, c := range []struct {
		name   string
		column ddl.Column
		value  any
		want   string
	}{
		{"OK tinyint", column("c", "tinyint"), int8(-128), "-128"},
		{"OK smallint unsigned", column("c", "smallint unsigned"), uint16(65535), "65535"},
		{"OK bigint", column("c", "bigint"), int64(-9223372036854775808), "-9223372036854775808"},
		{"OK bigint unsigned", column("c", "bigint unsigned"), uint64(18446744073709551615), "18446744073709551615"},
		{"OK bigint unsigned, read with a sign", column("c", "bigint unsigned"), int64(-1), "18446744073709551615"},
		{"OK tinyint unsigned, read with a sign", column("c", "tinyint(3) unsigned"), int8(-1), "255"},
		{"OK mediumint unsigned, read with a sign", column("c", "mediumint unsigned"), int32(-1), "16777215"},
		{"OK int unsigned, read with a sign", column("c", "int unsigned zerofill"), int32(-2), "4294967294"},
		{"OK decimal", column("c", "decimal(65,30)"), "-12345678901234567890.000000000000000000000000000001", "-12345678901234567890.000000000000000000000000000001"},
		{"OK year", column("c", "year"), int(0), "0"},
		{"OK bit", column("c", "bit(64)"), int64(-1), "18446744073709551615"},
		{"OK enum", column("c", "enum('a','b')"), int64(2), "2"},
		{"OK enum error value", column("c", "enum('a','b')"), int64(0), "0"},
		{"OK set", column("c", "set('a','b')"), int64(3), "3"},
		{"OK set of 64", column("c", "set('a')"), int64(-9223372036854775808), "9223372036854775808"},
		{"OK latin1", column("c", "varchar(5)", "latin1_swedish_ci"), "\xc3\x80", "_latin1 X'C380'"},
		{"OK utf8mb4", column("c", "char(5)"), "é'", "_utf8mb4 X'C3A927'"},
		{"OK empty text", column("c", "varchar(5)"), "", "_utf8mb4 X''"},
		{"OK trailing spaces", column("c", "varchar(5)", "utf8mb4_bin"), []byte("a "), "_utf8mb4 X'6120'"},
		{"OK ucs2", column("c", "varchar(5)", "ucs2_general_ci"), "\x00a", "_ucs2 X'0061'"},
		{"OK binary is filled up", column("c", "binary(4)"), "\x01\x00\xff", "_binary X'0100FF00'"},
		{"OK empty binary", column("c", "binary(2)"), "", "_binary X'0000'"},
		{"OK varbinary is not", column("c", "varbinary(4)"), []byte{1, 0}, "_binary X'0100'"},
		{"OK date", column("c", "date"), "2020-00-31", "DATE'2020-00-31'"},
		{"OK time", column("c", "time(6)"), "-838:59:59.000000", "TIME'-838:59:59.000000'"},
		{"OK datetime", column("c", "datetime(3)"), "2020-01-02 03:04:05.678", "TIMESTAMP'2020-01-02 03:04:05.678'"},
		{"OK timestamp", column("c", "timestamp(2)"), "2020-01-02 03:04:05.60", "TIMESTAMP'2020-01-02 03:04:05.60+00:00'"},
		{"OK zero timestamp", column("c", "timestamp"), "0000-00-00 00:00:00", "TIMESTAMP'0000-00-00 00:00:00'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ddl.KeyLiteral(c.column, c.value)
			noError(t, err)
			same(t, got, c.want)
		})
	}
	for _, c := range []struct {
		name   string
		column ddl.Column
		value  any
		want   string
	}{
		{"ErrNull", column("c", "int"), nil, "unexpected <nil>"},
		{"ErrKind", column("c", "varchar(5)"), int64(1), "unexpected int64"},
		{"ErrNumber", column("c", "decimal(5,2)"), "1; DROP", "not a number"},
		{"ErrDate", column("c", "date"), "2020'", "not a date"},
		{"ErrTimestamp", column("c", "timestamp"), "now()", "not a timestamp"},
		{"ErrFloat", column("c", "float"), float32(1), "can't be part of a key"},
		{"ErrJSON", column("c", "json"), "{}", "can't be part of a key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ddl.KeyLiteral(c.column, c.value)
			fails(t, err, c.want)
		})
	}
}

func TestBorder(t *testing.T) {
	for _, c := range []struct {
		name    string
		column  ddl.Column
		expr    string
		text    string
		literal string
	}{
		{"OK int", column("c", "int"), "CAST(`c` AS CHAR)", "-7", "-7"},
		{"OK decimal", column("c", "decimal(5,2)"), "CAST(`c` AS CHAR)", "-0.50", "-0.50"},
		{"OK text", column("c", "varchar(9)", "latin1_bin"), "HEX(`c`)", "C320", "_latin1 X'C320'"},
		{"OK binary", column("c", "binary(2)"), "HEX(`c`)", "0100", "_binary X'0100'"},
		{"OK enum", column("c", "enum('a')"), "CAST(`c` AS UNSIGNED)", "1", "1"},
		{"OK bit", column("c", "bit(64)"), "CAST(`c` AS UNSIGNED)", "18446744073709551615", "18446744073709551615"},
		{"OK year", column("c", "year"), "CAST(`c` AS UNSIGNED)", "0", "0"},
		{"OK time", column("c", "time(1)"), "CAST(`c` AS CHAR)", "-01:00:00.5", "TIME'-01:00:00.5'"},
		{"OK datetime", column("c", "datetime"), "CAST(`c` AS CHAR)", "0000-00-00 00:00:00", "TIMESTAMP'0000-00-00 00:00:00'"},
		{"OK timestamp", column("c", "timestamp(3)"), "UNIX_TIMESTAMP(`c`)", "1577934245.678", "TIMESTAMP'2020-01-02 03:04:05.678+00:00'"},
		{"OK zero timestamp", column("c", "timestamp"), "UNIX_TIMESTAMP(`c`)", "0", "TIMESTAMP'0000-00-00 00:00:00'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, ddl.BorderExpr(c.column), c.expr)
			got, err := ddl.BorderLiteral(c.column, []byte(c.text))
			noError(t, err)
			same(t, got, c.literal)
		})
	}
	for _, c := range []struct {
		name   string
		column ddl.Column
		text   string
		want   string
	}{
		{"ErrHex", column("c", "char(5)"), "XY", "encoding/hex"},
		{"ErrNumber", column("c", "int"), "1e5", "not a number"},
		{"ErrMoment", column("c", "timestamp"), "1.5.5", "not a moment"},
		{"ErrTime", column("c", "time"), "", "not a time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ddl.BorderLiteral(c.column, []byte(c.text))
			fails(t, err, c.want)
		})
	}
}
