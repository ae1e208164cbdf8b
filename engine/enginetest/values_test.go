package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// columnType is a type under test, with a source of values for it.
type columnType struct {
	def    string // as in CREATE TABLE
	family string
	values func(r *rand.Rand) string // one value as SQL
}

// edges are values that are taken as often as random ones.
func edges(random func(r *rand.Rand) string, values ...string) func(r *rand.Rand) string {
	return func(r *rand.Rand) string {
		if random == nil || r.IntN(2) == 0 {
			return values[r.IntN(len(values))]
		}
		return random(r)
	}
}

func integers(low int64, high uint64) func(r *rand.Rand) string {
	return edges(func(r *rand.Rand) string {
		switch {
		case r.IntN(2) == 0:
			return fmt.Sprint(r.IntN(100)) // for types that hold little
		case low < 0 && r.IntN(2) == 0:
			return fmt.Sprint(-r.Int64N(min(-(low+1), 1<<62)) - 1)
		}
		return fmt.Sprint(r.Uint64N(high))
	}, fmt.Sprint(low), fmt.Sprint(high), fmt.Sprint(high-1), "0", "1")
}

// decimals have up to this many digits before and after the point.
func decimals(whole, scale int, signs ...string) func(r *rand.Rand) string {
	digits := func(r *rand.Rand, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		return b.String()
	}
	number := func(whole, scale string) string {
		if scale == "" {
			return whole
		}
		return whole + "." + scale
	}
	sign := func(r *rand.Rand) string { return signs[r.IntN(len(signs))] }
	return edges(func(r *rand.Rand) string {
		return sign(r) + number("0"+digits(r, r.IntN(whole+1)), digits(r, scale))
	}, signs[len(signs)-1]+number(strings.Repeat("9", whole), strings.Repeat("9", scale)), "0", "1", number("12", strings.Repeat("0", scale)))
}

func floats(r *rand.Rand) string {
	return fmt.Sprintf("%e", (r.Float64()-0.5)*float64(uint64(1)<<r.IntN(50)))
}

// texts are strings of these letters, up to a length, beside values that
// other types can read.
func texts(longest int, letters string, values ...string) func(r *rand.Rand) string {
	runes := []rune(letters)
	common := []string{"''", "'a'", "'A'", "'a '", "'12'", "'-7'", "'3.5'", "'2024'", "'b,a'", "'medium'", "'x y'"}
	return edges(func(r *rand.Rand) string {
		var b strings.Builder
		for range r.IntN(longest + 1) {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		return "'" + strings.ReplaceAll(b.String(), "'", "''") + "'"
	}, append(common, values...)...)
}

func bytes(longest int, values ...string) func(r *rand.Rand) string {
	return edges(func(r *rand.Rand) string {
		b := make([]byte, r.IntN(longest+1))
		for i := range b {
			b[i] = byte(r.UintN(256))
		}
		return fmt.Sprintf("X'%X'", b)
	}, append([]string{"X''", "X'00'", "X'6100'", "X'610000'", "X'20'", "X'FF'", "'a'", "'12'"}, values...)...)
}

// longBytes are values of which single ones fill more than one page.
func longBytes(r *rand.Rand) string {
	return fmt.Sprintf("REPEAT(X'%02X%02X', %d)", r.UintN(256), r.UintN(256), r.IntN(20_000))
}

func dates(r *rand.Rand) string {
	return fmt.Sprintf("'%04d-%02d-%02d'", 1971+r.IntN(66), 1+r.IntN(12), 1+r.IntN(28))
}

func times(digits int) func(r *rand.Rand) string {
	return edges(func(r *rand.Rand) string {
		return fmt.Sprintf("'%s%02d:%02d:%02d%s'", []string{"", "-"}[r.IntN(2)], r.IntN(839), r.IntN(60), r.IntN(60), fraction(r, digits))
	}, "'00:00:00'", "'-838:59:59'", "'838:59:59'", "'23:59:59"+point(strings.Repeat("9", digits))+"'", "'12:30:00'")
}

func datetimes(digits int, values ...string) func(r *rand.Rand) string {
	return edges(func(r *rand.Rand) string {
		return fmt.Sprintf("%s %02d:%02d:%02d%s'", strings.TrimSuffix(dates(r), "'"), r.IntN(24), r.IntN(60), r.IntN(60), fraction(r, digits))
	}, append(values, "'2000-01-01 00:00:00'", "'2037-12-31 23:59:59"+point(strings.Repeat("4", digits))+"'", "'1999-12-31 23:59:59"+point(strings.Repeat("9", digits))+"'")...)
}

func fraction(r *rand.Rand, digits int) string {
	var b strings.Builder
	for range digits {
		b.WriteByte(byte('0' + r.IntN(10)))
	}
	return point(b.String())
}

func point(digits string) string {
	if digits == "" {
		return ""
	}
	return "." + digits
}

func members(names ...string) func(r *rand.Rand) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "'" + n + "'"
	}
	return edges(nil, quoted...)
}

// documents hold values whose inner types a text would lose.
func documents(r *rand.Rand) string {
	return []string{
		"'null'", "'{}'", "'[]'", "'12'", "'3.50'", `'"text"'`, "'true'", "CAST(CAST('1.50' AS DECIMAL(5,2)) AS JSON)", "CAST(1.5e0 AS JSON)",
		"JSON_OBJECT('d', CAST('2020-02-03 04:05:06.7' AS DATETIME(6)), 't', '2020-02-03 04:05:06.700000')",
		"JSON_OBJECT('n', CAST(18446744073709551615 AS UNSIGNED), 'm', -1)",
		"JSON_ARRAY(X'00FF', CAST('10:11:12' AS TIME), NULL)",
		fmt.Sprintf("JSON_OBJECT('k%d', '%s', 'é', JSON_ARRAY(%d, %g))", r.IntN(10), strings.Repeat("x", r.IntN(100)), r.IntN(1000), r.Float64()),
		fmt.Sprintf("JSON_SET('{\"a\": \"%s\", \"b\": 1}', '$.a', 'short')", strings.Repeat("y", r.IntN(60))),
	}[r.IntN(14)]
}

func points(srid int) func(r *rand.Rand) string {
	return func(r *rand.Rand) string {
		return fmt.Sprintf("ST_GeomFromText('POINT(%d %d)', %d)", r.IntN(80), r.IntN(80), srid)
	}
}

func geometries(r *rand.Rand) string {
	return []string{
		"ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(1 2)', 4326)",
		fmt.Sprintf("ST_GeomFromText('LINESTRING(0 0, %d %d)')", r.IntN(90), r.IntN(90)),
		fmt.Sprintf("ST_GeomFromText('POLYGON((0 0, 0 %d, %d 0, 0 0))')", 1+r.IntN(90), 1+r.IntN(90)),
	}[r.IntN(4)]
}

func vectors(r *rand.Rand) string {
	return fmt.Sprintf("STRING_TO_VECTOR('[%g, %g, %g]')", r.Float32(), -r.Float32(), float32(r.IntN(100)))
}

const (
	ascii    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-%'"
	latin    = ascii + "äöüÄÖÜßéèñçÿŸ€"
	cyrillic = ascii + "абвгдеёжзийклмнопрстуфхцчшщъыьэюяАБВГДЕЁЖЗ"
	chinese  = ascii + "中文汉字测试数据库迁移"
	anything = latin + cyrillic + chinese + "ǅﬃ한글ไทย😀🚀"
	bmp      = latin + cyrillic + chinese + "ǅﬃ한글ไทย"
)

// columnTypes are the types that are turned into each other.
func columnTypes() []columnType {
	temporal := []string{"'2021-03-04'", "'2021-03-04 05:06:07.89'", "'11:12:13'"}
	document := []string{`'{"a": [1, 2.5, "x"]}'`, `'[1, 2]'`, "'null'"}
	return []columnType{
		{"TINYINT", "integer", integers(-128, 127)},
		{"TINYINT UNSIGNED", "integer", integers(0, 255)},
		{"SMALLINT", "integer", integers(-32768, 32767)},
		{"MEDIUMINT UNSIGNED", "integer", integers(0, 1<<24-1)},
		{"INT", "integer", integers(-1<<31, 1<<31-1)},
		{"INT UNSIGNED", "integer", integers(0, 1<<32-1)},
		{"INT(6) UNSIGNED ZEROFILL", "integer", integers(0, 1<<32-1)},
		{"BIGINT", "integer", integers(-1<<63, 1<<63-1)},
		{"BIGINT UNSIGNED", "integer", integers(0, 1<<64-1)},
		{"DECIMAL(10,2)", "decimal", decimals(8, 2, "", "-")},
		{"DECIMAL(30,0)", "decimal", decimals(30, 0, "-", "")},
		{"DECIMAL(65,30)", "decimal", decimals(35, 30, "", "-")},
		{"DECIMAL(12,4) UNSIGNED", "decimal", decimals(8, 4, "")},
		{"FLOAT", "float", edges(floats, "0", "1", "-1.5e0", "3.4e38", "1.17e-38", "16777217")},
		{"DOUBLE", "float", edges(floats, "0", "1", "-0.1e0", "1.7976931348623157e308", "2.5e-308", "9007199254740993", "0.1e0")},
		{"BIT(1)", "bit", edges(nil, "0", "1")},
		{"BIT(17)", "bit", integers(0, 1<<17-1)},
		{"BIT(64)", "bit", integers(0, 1<<64-1)},
		{"YEAR", "year", edges(nil, "0", "1901", "2155", "2024", "1970")},
		{"CHAR(10)", "text", texts(10, anything, temporal[0])},
		{"VARCHAR(30)", "text", texts(30, anything, append(temporal, document...)...)},
		{"VARCHAR(5)", "text", texts(5, anything)},
		{"VARCHAR(30) CHARACTER SET latin1", "text", texts(30, latin, temporal...)},
		{"VARCHAR(30) CHARACTER SET cp1251", "text", texts(30, cyrillic)},
		{"VARCHAR(30) CHARACTER SET gbk", "text", texts(30, chinese)},
		{"VARCHAR(30) CHARACTER SET ucs2", "text", texts(30, bmp)},
		{"CHAR(12) CHARACTER SET utf16 COLLATE utf16_bin", "text", texts(12, anything)},
		{"VARCHAR(30) COLLATE utf8mb4_bin", "text", texts(30, anything)},
		{"VARCHAR(30) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci", "text", texts(30, bmp)},
		{"TINYTEXT", "text", texts(40, anything)},
		{"TEXT CHARACTER SET latin1", "text", texts(300, latin, temporal...)},
		{"MEDIUMTEXT", "text", edges(texts(300, anything, document...), "REPEAT('é', 40000)")},
		{"LONGTEXT", "text", edges(texts(300, anything, document...), "REPEAT('中', 9000)")},
		{"BINARY(8)", "bytes", bytes(8)},
		{"VARBINARY(20)", "bytes", bytes(20)},
		{"TINYBLOB", "bytes", bytes(60)},
		{"BLOB", "bytes", edges(longBytes, "X''", "X'00'", "'12'", `'{"a": 1}'`)},
		{"LONGBLOB", "bytes", edges(longBytes, "X''", "X'0000'")},
		{"ENUM('small','large','medium')", "enum", members("small", "large", "medium")},
		{"ENUM('x','large','b','a','medium','small','2')", "enum", members("x", "large", "b", "a", "medium", "small", "2")},
		{"ENUM('ä','b','я') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "enum", members("ä", "b", "я")},
		{"SET('b','a','c')", "set", members("", "b", "a", "b,a", "a,c", "b,a,c")},
		{"SET('a','b','c','d')", "set", members("", "b", "a", "a,b", "a,c", "a,b,c", "d")},
		{"DATE", "temporal", edges(dates, "'1000-01-01'", "'9999-12-31'", "'2024-02-29'")},
		{"DATETIME", "temporal", datetimes(0, "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'")},
		{"DATETIME(3)", "temporal", datetimes(3, "'1000-01-01 00:00:00.001'")},
		{"DATETIME(6)", "temporal", datetimes(6, "'9999-12-31 23:59:59.499999'")},
		{"TIMESTAMP NULL", "temporal", datetimes(0, "'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'")},
		{"TIMESTAMP(6) NULL", "temporal", datetimes(6, "'1970-01-01 00:00:01.000001'", "'2038-01-19 03:14:07.999999'")},
		{"TIME", "temporal", times(0)},
		{"TIME(6)", "temporal", times(6)},
		{"JSON", "json", documents},
		{"GEOMETRY", "spatial", geometries},
		{"POINT", "spatial", points(0)},
		{"POINT SRID 4326", "spatial", points(4326)},
		{"VECTOR(3)", "vector", vectors},
		{"VECTOR(16)", "vector", vectors},
	}
}
