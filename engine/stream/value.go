package stream

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// column is how a column's values stand in the binlog.
type column struct {
	kind byte
	meta uint16
}

// newColumn undoes what the server does to the types of CHAR, BINARY, ENUM
// and SET, which share a code: see Field_string::do_save_field_metadata of
// its sources.
func newColumn(kind byte, meta uint16) column {
	if kind != gomysql.MYSQL_TYPE_STRING || meta < 256 {
		return column{kind, meta}
	}
	high, low := meta>>8, meta&0xff
	if high&0x30 != 0x30 { // a CHAR of more than 255 bytes
		return column{byte(high | 0x30), low | (high&0x30^0x30)<<4}
	}
	return column{byte(high), low}
}

// metaSize is the number of bytes of a type's metadata in a table map.
func metaSize(kind byte) (size int, bigEndian bool) {
	switch kind {
	case gomysql.MYSQL_TYPE_STRING, gomysql.MYSQL_TYPE_NEWDECIMAL:
		return 2, true
	case gomysql.MYSQL_TYPE_VAR_STRING, gomysql.MYSQL_TYPE_VARCHAR, gomysql.MYSQL_TYPE_BIT, gomysql.MYSQL_TYPE_ENUM, gomysql.MYSQL_TYPE_SET:
		return 2, false
	case gomysql.MYSQL_TYPE_BLOB, gomysql.MYSQL_TYPE_TINY_BLOB, gomysql.MYSQL_TYPE_MEDIUM_BLOB, gomysql.MYSQL_TYPE_LONG_BLOB,
		gomysql.MYSQL_TYPE_GEOMETRY, gomysql.MYSQL_TYPE_JSON, gomysql.MYSQL_TYPE_VECTOR,
		gomysql.MYSQL_TYPE_FLOAT, gomysql.MYSQL_TYPE_DOUBLE,
		gomysql.MYSQL_TYPE_TIMESTAMP2, gomysql.MYSQL_TYPE_DATETIME2, gomysql.MYSQL_TYPE_TIME2:
		return 1, false
	}
	return 0, false
}

// skip goes past a value.
func (t column) skip(c *cursor) {
	if n, ok := t.fixed(); ok {
		c.skip(int64(n))
		return
	}
	n, ok := t.prefix()
	if !ok {
		c.fail(fmt.Errorf("column type %d is unknown", t.kind))
		return
	}
	c.skip(int64(c.number(n)))
}

// fixed is the size of a value of a type whose values all have the same.
func (t column) fixed() (size int, ok bool) {
	switch t.kind {
	case gomysql.MYSQL_TYPE_NULL:
		return 0, true
	case gomysql.MYSQL_TYPE_TINY, gomysql.MYSQL_TYPE_YEAR:
		return 1, true
	case gomysql.MYSQL_TYPE_SHORT:
		return 2, true
	case gomysql.MYSQL_TYPE_INT24, gomysql.MYSQL_TYPE_DATE, gomysql.MYSQL_TYPE_NEWDATE, gomysql.MYSQL_TYPE_TIME:
		return 3, true
	case gomysql.MYSQL_TYPE_LONG, gomysql.MYSQL_TYPE_FLOAT, gomysql.MYSQL_TYPE_TIMESTAMP:
		return 4, true
	case gomysql.MYSQL_TYPE_LONGLONG, gomysql.MYSQL_TYPE_DOUBLE, gomysql.MYSQL_TYPE_DATETIME:
		return 8, true
	case gomysql.MYSQL_TYPE_TIMESTAMP2:
		return 4 + t.fraction(), true
	case gomysql.MYSQL_TYPE_DATETIME2:
		return 5 + t.fraction(), true
	case gomysql.MYSQL_TYPE_TIME2:
		return 3 + t.fraction(), true
	case gomysql.MYSQL_TYPE_NEWDECIMAL:
		whole, scale := int(t.meta>>8-t.meta&0xff), int(t.meta&0xff)
		return whole/9*4 + digitBytes[whole%9] + scale/9*4 + digitBytes[scale%9], true
	case gomysql.MYSQL_TYPE_ENUM, gomysql.MYSQL_TYPE_SET:
		return int(t.meta & 0xff), true
	case gomysql.MYSQL_TYPE_BIT:
		return (int(t.meta>>8)*8 + int(t.meta&0xff) + 7) / 8, true
	}
	return 0, false
}

// digitBytes is the size of a group of decimal digits.
var digitBytes = [...]int{0, 1, 1, 2, 2, 3, 3, 4, 4, 4}

func (t column) fraction() int { return int(t.meta+1) / 2 }

// prefix is the size of the length in front of a value.
func (t column) prefix() (size int, ok bool) {
	switch t.kind {
	case gomysql.MYSQL_TYPE_VARCHAR, gomysql.MYSQL_TYPE_VAR_STRING, gomysql.MYSQL_TYPE_STRING:
		if t.meta > 255 {
			return 2, true
		}
		return 1, true
	case gomysql.MYSQL_TYPE_BLOB, gomysql.MYSQL_TYPE_TINY_BLOB, gomysql.MYSQL_TYPE_MEDIUM_BLOB, gomysql.MYSQL_TYPE_LONG_BLOB,
		gomysql.MYSQL_TYPE_GEOMETRY, gomysql.MYSQL_TYPE_JSON, gomysql.MYSQL_TYPE_VECTOR:
		return int(t.meta), true
	}
	return 0, false
}

// value reads a value that belongs to a key: integers as signed ones of
// their size, ENUM, SET and BIT as int64, YEAR as int, all else as string,
// with TIMESTAMP in UTC.
func (t column) value(c *cursor) any {
	switch t.kind {
	case gomysql.MYSQL_TYPE_TINY:
		return int8(c.number(1))
	case gomysql.MYSQL_TYPE_SHORT:
		return int16(c.number(2))
	case gomysql.MYSQL_TYPE_INT24:
		return int32(c.number(3)<<8) >> 8 //nolint:gosec // the sign is bit 23
	case gomysql.MYSQL_TYPE_LONG:
		return int32(c.number(4))
	case gomysql.MYSQL_TYPE_LONGLONG:
		return int64(c.number(8))
	case gomysql.MYSQL_TYPE_YEAR:
		if n := int(c.number(1)); n > 0 {
			return 1900 + n
		}
		return 0
	case gomysql.MYSQL_TYPE_ENUM, gomysql.MYSQL_TYPE_SET:
		return int64(c.number(int(t.meta & 0xff)))
	case gomysql.MYSQL_TYPE_BIT:
		size, _ := t.fixed()
		return int64(c.big(size))
	case gomysql.MYSQL_TYPE_NEWDECIMAL:
		return t.decimal(c)
	case gomysql.MYSQL_TYPE_DATE, gomysql.MYSQL_TYPE_NEWDATE:
		n := c.number(3)
		return fmt.Sprintf("%04d-%02d-%02d", n>>9, n>>5&15, n&31)
	case gomysql.MYSQL_TYPE_TIMESTAMP2:
		return t.timestamp(c)
	case gomysql.MYSQL_TYPE_DATETIME2:
		return t.datetime(c)
	case gomysql.MYSQL_TYPE_TIME2:
		return t.time(c)
	case gomysql.MYSQL_TYPE_VARCHAR, gomysql.MYSQL_TYPE_VAR_STRING, gomysql.MYSQL_TYPE_STRING:
		n, _ := t.prefix()
		return string(c.take(int(c.number(n))))
	}
	c.fail(fmt.Errorf("column type %d can't be part of a key", t.kind))
	return nil
}

// decimal reads groups of up to nine digits. Of a negative number all bits
// are turned round, and the first bit is turned round once more in both.
func (t column) decimal(c *cursor) string {
	size, _ := t.fixed()
	whole, scale := int(t.meta>>8-t.meta&0xff), int(t.meta&0xff)
	b := append([]byte(nil), c.take(size)...)
	if size == 0 {
		return "0"
	}
	negative := b[0]&0x80 == 0
	b[0] ^= 0x80
	if negative {
		for i := range b {
			b[i] = ^b[i]
		}
	}
	digits := func(n int) string {
		var text strings.Builder
		for first := n % 9; n > 0; first = 9 {
			if first == 0 {
				first = 9
			}
			group := make([]byte, 4)
			copy(group[4-digitBytes[first]:], b[:digitBytes[first]])
			b = b[digitBytes[first]:]
			fmt.Fprintf(&text, "%0*d", first, binary.BigEndian.Uint32(group))
			n -= first
		}
		return text.String()
	}
	text := strings.TrimLeft(digits(whole), "0")
	if text == "" {
		text = "0"
	}
	if scale > 0 {
		// Behind the point the incomplete group comes last.
		text += "." + digits(scale/9*9)
		if rest := scale % 9; rest > 0 {
			text += digits(rest)
		}
	}
	if negative {
		return "-" + text
	}
	return text
}

func (t column) timestamp(c *cursor) string {
	seconds := int64(c.big(4))
	fraction := t.digits(c.big(t.fraction()))
	if seconds == 0 {
		return "0000-00-00 00:00:00" + fraction
	}
	return time.Unix(seconds, 0).UTC().Format(time.DateTime) + fraction
}

func (t column) datetime(c *cursor) string {
	n := c.big(5) - 1<<39
	date, clock := n>>17, n&(1<<17-1)
	return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d", date>>5/13, date>>5%13, date&31, clock>>12, clock>>6&63, clock&63) +
		t.digits(c.big(t.fraction()))
}

// time reads a time of the day or a span. It is one number with the fraction
// as its lower bytes, below the middle of its range if it is negative.
func (t column) time(c *cursor) string {
	bits := 8 * t.fraction()
	n := int64(c.big(3+t.fraction())) - 1<<(23+bits)
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	clock := n >> bits
	return sign + fmt.Sprintf("%02d:%02d:%02d", clock>>12&1023, clock>>6&63, clock&63) + t.digits(uint64(n)&(1<<bits-1))
}

// digits is the fraction of a second with its point. An odd number of digits
// is stored as the next even one.
func (t column) digits(n uint64) string {
	if t.meta == 0 {
		return ""
	}
	text := strconv.FormatUint(n, 10)
	text = strings.Repeat("0", max(0, 2*t.fraction()-len(text))) + text
	return "." + text[:t.meta]
}
