package workload

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// columnType is a type that a random column may have, and the types that it
// can be turned into: values keep their meaning, and are shown before and
// after as they were written, so that the ledger knows them.
type columnType struct {
	from      string
	to        []string
	values    func(*rand.Rand) string
	indexable bool
	noDefault bool
}

func columnTypes() []columnType {
	return []columnType{
		{"TINYINT", []string{"SMALLINT", "INT", "BIGINT"}, integers(-128, 127), true, false},
		{"SMALLINT UNSIGNED", []string{"INT UNSIGNED", "BIGINT UNSIGNED", "DECIMAL(8,0)"}, integers(0, 65535), true, false},
		{"INT", []string{"BIGINT", "DECIMAL(20,0)"}, integers(-1<<31, 1<<31-1), true, false},
		{"BIGINT UNSIGNED", []string{"DECIMAL(30,0)"}, bigIntegers, true, false},
		{"DECIMAL(10,2)", []string{"DECIMAL(14,2)", "DECIMAL(20,4)"}, amounts, true, false},
		{"FLOAT", []string{"DOUBLE"}, oneOf("0.5", "-1.25", "1024", "3.0625", "-0.375", "0"), true, false},
		{"DOUBLE", nil, oneOf("0.1", "-1.25", "1024", "3.141592653589793", "0"), true, false},
		{"BIT(8)", []string{"BIT(16)", "BIT(64)"}, integers(0, 255), true, false},
		{"YEAR", nil, integers(1901, 2155), true, false},
		{"VARCHAR(30)", []string{"VARCHAR(300)"}, words(30), false, false},
		{"VARCHAR(40)", []string{"TEXT"}, words(40), false, true},
		{"CHAR(12)", []string{"CHAR(20)", "VARCHAR(40)"}, words(12), true, false},
		{"VARBINARY(16)", []string{"VARBINARY(64)", "BLOB"}, bytes(16), false, true},
		{"ENUM('small','large','medium')", []string{"ENUM('small','large','medium','huge')"}, oneOf("small", "large", "medium"), true, false},
		{"SET('b','a','c')", []string{"SET('b','a','c','d')"}, oneOf("", "b", "a", "b,a", "a,c", "b,a,c"), true, false},
		{"DATE", nil, dates, true, false},
		{"DATETIME", []string{"DATETIME(3)", "DATETIME(6)"}, datetimes, true, false},
		{"TIME", []string{"TIME(6)"}, oneOf("00:00:00", "-838:59:59", "838:59:59", "23:59:59", "-00:00:01"), true, false},
		{"JSON", nil, oneOf(`{"a": 1}`, `[1, 2, "x"]`, `{"k": {"n": null}}`, `"it's"`, "[]", "true"), false, true},
	}
}

func oneOf(values ...string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return values[r.IntN(len(values))] }
}

// integers are those from low to high, these two above all.
func integers(low, high int64) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		switch r.IntN(6) {
		case 0:
			return strconv.FormatInt(low, 10)
		case 1:
			return strconv.FormatInt(high, 10)
		}
		return strconv.FormatInt(low+r.Int64N(high-low+1), 10)
	}
}

func bigIntegers(r *rand.Rand) string {
	return strconv.FormatUint([]uint64{0, 1<<64 - 1, 1 << 63, r.Uint64(), r.Uint64()}[r.IntN(5)], 10)
}

func amounts(r *rand.Rand) string {
	return fmt.Sprintf("%s%d.%02d", oneOf("", "-")(r), 1+r.IntN(99_999_999), r.IntN(100))
}

// words are texts in several scripts, with the letters that SQL must escape.
// None ends with a space, which a CHAR drops. None takes four bytes in UTF-8:
// information_schema.PROCESSLIST, which faults ask who waits, refuses to show
// anybody while a statement with such a letter goes on.
func words(most int) func(*rand.Rand) string {
	letters := []rune(`abcXYZ019 _-%'"\äßéя中漢한`)
	return func(r *rand.Rand) string {
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		return b.String() + "."
	}
}

// bytes are no text in any character set that a server prints, so that they
// are shown as what they are.
func bytes(most int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		b := make([]byte, 1+r.IntN(most))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		b[0] = 0xff
		return fmt.Sprintf("0x%X", b)
	}
}

func dates(r *rand.Rand) string {
	return fmt.Sprintf("%04d-%02d-%02d", []int{1000, 1969, 2024, 9999}[r.IntN(4)], 1+r.IntN(12), 1+r.IntN(28))
}

func datetimes(r *rand.Rand) string {
	return fmt.Sprintf("%s %02d:%02d:%02d", dates(r), r.IntN(24), r.IntN(60), r.IntN(60))
}
