package wire

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxValue bounds a captured value, in bytes.
const maxValue = 256

// column is what row decoding needs of a column definition.
type column struct {
	name     string
	kind     byte
	unsigned bool
}

func parseColumn(b []byte) (column, error) {
	f := fields{b: b}
	for range 4 { // catalog, schema, table, original table
		f.bytes()
	}
	c := column{name: string(f.bytes())}
	f.bytes()         // original name
	f.skip(1 + 2 + 4) // length of what follows, character set, display length
	c.kind = byte(f.uint(1))
	c.unsigned = f.uint(2)&32 != 0
	return c, f.err
}

// textRow reads a row of the text protocol. Values that can't be read stay
// NULL: a captured row serves a reader, not a decision.
func textRow(b []byte, columns []column) []*string {
	f := fields{b: b}
	row := make([]*string, len(columns))
	for i := range row {
		if len(f.b) > 0 && f.b[0] == 0xfb { // NULL
			f.skip(1)
			continue
		}
		v := f.bytes()
		if f.err != nil {
			break
		}
		row[i] = valueText(v)
	}
	return row
}

// binaryRow reads a row of the binary protocol.
func binaryRow(b []byte, columns []column) []*string {
	f := fields{b: b}
	f.skip(1)
	nulls := f.take((len(columns) + 7 + 2) / 8)
	row := make([]*string, len(columns))
	for i, c := range columns {
		if f.err != nil {
			break
		}
		if nulls[(i+2)/8]&(1<<((i+2)%8)) != 0 {
			continue
		}
		if v := binaryValue(&f, c); f.err == nil {
			row[i] = v
		}
	}
	return row
}

// MySQL's column types, as far as their encoding differs.
const (
	typeTiny      = 1
	typeShort     = 2
	typeLong      = 3
	typeFloat     = 4
	typeDouble    = 5
	typeNull      = 6
	typeTimestamp = 7
	typeLongLong  = 8
	typeInt24     = 9
	typeDate      = 10
	typeTime      = 11
	typeDateTime  = 12
	typeYear      = 13
)

// binarySize is the length of a type's values where all have the same.
func binarySize(t byte) (int, bool) {
	switch t {
	case typeNull:
		return 0, true
	case typeTiny:
		return 1, true
	case typeShort, typeYear:
		return 2, true
	case typeLong, typeInt24, typeFloat:
		return 4, true
	case typeLongLong, typeDouble:
		return 8, true
	}
	return 0, false
}

func isTime(t byte) bool {
	return t == typeTimestamp || t == typeDate || t == typeTime || t == typeDateTime
}

func binaryValue(f *fields, c column) *string {
	n, fixed := binarySize(c.kind)
	switch {
	case c.kind == typeFloat:
		return text(strconv.FormatFloat(float64(math.Float32frombits(uint32(f.uint(4)))), 'g', -1, 32))
	case c.kind == typeDouble:
		return text(strconv.FormatFloat(math.Float64frombits(f.uint(8)), 'g', -1, 64))
	case fixed && n == 0:
		return nil
	case fixed && c.unsigned:
		return text(strconv.FormatUint(f.uint(n), 10))
	case fixed:
		shift := 64 - 8*n
		return text(strconv.FormatInt(int64(f.uint(n)<<shift)>>shift, 10))
	case isTime(c.kind):
		return text(timeText(f.take(int(f.uint(1))), c.kind))
	default:
		return valueText(f.bytes())
	}
}

func timeText(b []byte, kind byte) string {
	f := fields{b: b}
	var s strings.Builder
	if kind == typeTime {
		if f.uint(1) == 1 {
			s.WriteByte('-')
		}
		hours := f.uint(4) * 24
		fmt.Fprintf(&s, "%02d:%02d:%02d", hours+f.uint(1), f.uint(1), f.uint(1))
	} else {
		fmt.Fprintf(&s, "%04d-%02d-%02d", f.uint(2), f.uint(1), f.uint(1))
		if kind != typeDate {
			fmt.Fprintf(&s, " %02d:%02d:%02d", f.uint(1), f.uint(1), f.uint(1))
		}
	}
	if len(f.b) == 4 {
		fmt.Fprintf(&s, ".%06d", f.uint(4))
	}
	return s.String()
}

func text(s string) *string { return &s }

// valueText gives bytes as text, shortened.
func valueText(b []byte) *string {
	more := ""
	if len(b) > maxValue {
		b, more = b[:maxValue], "…"
		for len(b) > maxValue-utf8.UTFMax && !utf8.Valid(b) { // don't cut a character in two
			b = b[:len(b)-1]
		}
	}
	if !utf8.Valid(b) {
		return text("0x" + strings.ToUpper(hex.EncodeToString(b)) + more)
	}
	return text(string(b) + more)
}
