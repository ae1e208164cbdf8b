package ddl

import "testing"

func TestNoWait(t *testing.T) {
	for statement, want := range map[string]string{
		"REPLACE INTO s (a) SELECT a FROM t FOR SHARE":                 "REPLACE INTO s (a) SELECT a FROM t FOR SHARE NOWAIT",
		"DELETE s FROM s WHERE a IN (1) AND NOT EXISTS (SELECT 1 ...)": "DELETE s FROM s WHERE a IN (1) AND NOT EXISTS (SELECT 1 ...)",
	} {
		if got := NoWait(statement); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestPortion(t *testing.T) {
	keys := []Tuple{{"1234"}, {"1234"}, {"1234", "1234"}, {"1"}}
	for _, c := range []struct{ most, text, want int }{
		{10, 1000, 4}, {3, 1000, 3}, {10, 4, 1}, {10, 5, 2}, {10, 1, 1}, {10, 16, 3},
	} {
		if got := Portion(keys, c.most, c.text); got != c.want {
			t.Errorf("at most %d keys of %d bytes: got %d, want %d", c.most, c.text, got, c.want)
		}
	}
}
