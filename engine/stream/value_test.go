package stream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// Values as the server writes them, by type. The same bytes must be read
// from an event that lies in memory and from one that is streamed.
func TestValue(t *testing.T) {
	for _, c := range []struct {
		name string
		kind byte
		meta uint16
		data string
		want any
	}{
		{"TINYINT", gomysql.MYSQL_TYPE_TINY, 0, "\xff", int8(-1)},
		{"MEDIUMINT", gomysql.MYSQL_TYPE_INT24, 0, "\xfe\xff\xff", int32(-2)},
		{"MEDIUMINT above 0", gomysql.MYSQL_TYPE_INT24, 0, "\xff\xff\x7f", int32(1<<23 - 1)},
		{"BIGINT", gomysql.MYSQL_TYPE_LONGLONG, 0, "\x00\x00\x00\x00\x00\x00\x00\x80", int64(-1 << 63)},
		{"YEAR", gomysql.MYSQL_TYPE_YEAR, 0, "\x7e", 2026},
		{"YEAR 0", gomysql.MYSQL_TYPE_YEAR, 0, "\x00", 0},
		{"ENUM", gomysql.MYSQL_TYPE_STRING, 0xf7<<8 | 2, "\x01\x01", int64(257)},
		{"BIT(10)", gomysql.MYSQL_TYPE_BIT, 1<<8 | 2, "\x02\x01", int64(513)},
		{"VARCHAR", gomysql.MYSQL_TYPE_VARCHAR, 20, "\x03abc", "abc"},
		{"long VARCHAR", gomysql.MYSQL_TYPE_VARCHAR, 300, "\x03\x00abc", "abc"},
		{"long CHAR", gomysql.MYSQL_TYPE_STRING, 0xee<<8 | 0xfc, "\x03\x00abc", "abc"}, // 508 bytes
		{"DECIMAL", gomysql.MYSQL_TYPE_NEWDECIMAL, 14<<8 | 4, "\x81\x0d\xfb\x38\xd2\x04\xd2", "1234567890.1234"},
		{"DECIMAL below 0", gomysql.MYSQL_TYPE_NEWDECIMAL, 14<<8 | 4, "\x7e\xf2\x04\xc7\x2d\xfb\x2d", "-1234567890.1234"},
		{"DECIMAL of zeros", gomysql.MYSQL_TYPE_NEWDECIMAL, 4<<8 | 2, "\x80\x00", "0.00"},
		{"DATE", gomysql.MYSQL_TYPE_DATE, 0, "\x7f\xd5\x0f", "2026-11-31"},
		{"DATETIME", gomysql.MYSQL_TYPE_DATETIME2, 0, "\x99\xb3\x3d\x71\x6f", "2024-04-30 23:05:47"},
		{"zero DATETIME(3)", gomysql.MYSQL_TYPE_DATETIME2, 3, "\x80\x00\x00\x00\x00\x00\x00", "0000-00-00 00:00:00.000"},
		{"TIMESTAMP(2)", gomysql.MYSQL_TYPE_TIMESTAMP2, 2, "\x00\x00\x00\x01\x07", "1970-01-01 00:00:01.07"},
		{"zero TIMESTAMP", gomysql.MYSQL_TYPE_TIMESTAMP2, 0, "\x00\x00\x00\x00", "0000-00-00 00:00:00"},
		{"TIME", gomysql.MYSQL_TYPE_TIME2, 0, "\x80\x10\x83", "01:02:03"},
		{"TIME below 0", gomysql.MYSQL_TYPE_TIME2, 2, "\x7f\xff\xff\xff", "-00:00:00.01"},
		{"TIME(2) of -1 s", gomysql.MYSQL_TYPE_TIME2, 2, "\x7f\xff\xff\x00", "-00:00:01.00"},
		{"TIME(1)", gomysql.MYSQL_TYPE_TIME2, 1, "\x80\x00\x00\x5a", "00:00:00.9"},
	} {
		column := newColumn(c.kind, c.meta)
		for _, from := range []*cursor{
			{whole: []byte(c.data), left: int64(len(c.data))},
			{in: bufio.NewReaderSize(strings.NewReader(c.data), window), left: int64(len(c.data))},
		} {
			if got := column.value(from); got != c.want || from.err != nil || from.left != 0 {
				t.Errorf("%s: got %#v with %d bytes left (%v), want %#v", c.name, got, from.left, from.err, c.want)
			}
		}
		skipped := &cursor{whole: []byte(c.data), left: int64(len(c.data))}
		if column.skip(skipped); skipped.left != 0 || skipped.err != nil {
			t.Errorf("%s: skipped all but %d bytes (%v)", c.name, skipped.left, skipped.err)
		}
	}
}

// An event that is shorter than what it says must be an error, not zeros.
func TestCursorEnds(t *testing.T) {
	for name, c := range map[string]*cursor{
		"in memory":              {whole: []byte("ab"), left: 2},
		"streamed":               {in: bufio.NewReaderSize(strings.NewReader("ab"), window), left: 2},
		"streamed and cut short": {in: bufio.NewReaderSize(strings.NewReader("ab"), window), left: 8},
	} {
		if got := c.number(4); got != 0 || c.err == nil {
			t.Errorf("%s: got %d and error %v, want 0 and an error", name, got, c.err)
		}
		if got := c.number(1); got != 0 {
			t.Errorf("%s: got %d after an error, want 0", name, got)
		}
	}
	cut := &cursor{in: bufio.NewReaderSize(bytes.NewReader([]byte("ab")), window), left: 8}
	if cut.skip(8); !errors.Is(cut.err, io.ErrUnexpectedEOF) {
		t.Errorf("cut short: got %v, want %v, by which a lost connection is known", cut.err, io.ErrUnexpectedEOF)
	}
}
