package mysql

import (
	"strings"
	"testing"
)

func TestCopyMode(t *testing.T) {
	got := "," + CopyMode("ANSI_QUOTES,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES") + ","
	for _, want := range []string{"STRICT_ALL_TABLES", "NO_AUTO_VALUE_ON_ZERO", "NO_ENGINE_SUBSTITUTION"} {
		if !strings.Contains(got, ","+want+",") {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	for _, bad := range []string{"ANSI_QUOTES", "NO_ZERO_DATE", "NO_ZERO_IN_DATE"} {
		if strings.Contains(got, ","+bad+",") {
			t.Errorf("got %s, want %s not in it", got, bad)
		}
	}
	if strings.Count(got, "STRICT_TRANS_TABLES") != 1 {
		t.Errorf("got %s, want each mode once", got)
	}
}

func TestGrants(t *testing.T) {
	for _, c := range []struct {
		line, schema   string
		global, inside string // a privilege that is there, "" for none at all
	}{
		{"GRANT SELECT, LOCK TABLES ON `shop`.* TO `u`@`%`", "shop", "", "LOCK TABLES"},
		{"GRANT SELECT ON `shop`.* TO `u`@`%`", "shop2", "", ""},
		{"GRANT ALL PRIVILEGES ON `shop\\_%`.* TO `u`@`%`", "shop_eu", "", "TRIGGER"},
		{"GRANT ALL PRIVILEGES ON `shop\\_%`.* TO `u`@`%`", "shopxeu", "", ""},
		{"GRANT SELECT ON `sh_p`.* TO `u`@`%`", "shop", "", "SELECT"},
		{"GRANT SELECT ON `shop`.`orders` TO `u`@`%`", "shop", "", ""},
		{"GRANT REPLICATION SLAVE, PROCESS ON *.* TO `u`@`%` WITH GRANT OPTION", "shop", "PROCESS", ""},
		{"GRANT `role`@`%` TO `u`@`%`", "shop", "", ""},
	} {
		g := Grants{Global: map[string]bool{}, Schema: map[string]bool{}, revoked: map[string]bool{}}
		g.add(c.line, c.schema)
		if (c.global == "") != (len(g.Global) == 0) || c.global != "" && !g.Global[c.global] {
			t.Errorf("%s: got global %v, want %q", c.line, g.Global, c.global)
		}
		if (c.inside == "") != (len(g.Schema) == 0) || c.inside != "" && !g.Schema[c.inside] {
			t.Errorf("%s for %s: got %v, want %q", c.line, c.schema, g.Schema, c.inside)
		}
	}
}

func TestPartialRevoke(t *testing.T) {
	g := Grants{Global: map[string]bool{}, Schema: map[string]bool{}, revoked: map[string]bool{}}
	g.add("GRANT SELECT, INSERT ON *.* TO `u`@`%`", "shop")
	g.add("REVOKE INSERT ON `shop`.* FROM `u`@`%`", "shop")
	g.add("REVOKE SELECT ON `mysql`.* FROM `u`@`%`", "shop")
	if !g.InSchema("SELECT") || g.InSchema("INSERT") {
		t.Errorf("got SELECT %v and INSERT %v, want true and false", g.InSchema("SELECT"), g.InSchema("INSERT"))
	}
}

func TestFiltered(t *testing.T) {
	for _, c := range []struct{ do, ignore, want string }{
		{"", "", ""},
		{"other,shop", "", ""},
		{"other,shopping", "", "binlog_do_db=other,shopping"},
		{"", "other", ""},
		{"", "other,shop", "binlog_ignore_db=other,shop"},
	} {
		if got := (BinlogStatus{do: c.do, ignore: c.ignore}).Filtered("shop"); got != c.want {
			t.Errorf("do %q, ignore %q: got %q, want %q", c.do, c.ignore, got, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	v, err := ParseVersion("8.4.3-log")
	if err != nil || !v.AtLeast(8, 0) || !v.AtLeast(8, 4) || v.AtLeast(9, 0) || v.AtLeast(8, 5) {
		t.Errorf("8.4.3-log: got %+v, %v", v, err)
	}
	if _, err := ParseVersion("unknown"); err == nil {
		t.Error("unknown: got no error")
	}
}

func TestLockName(t *testing.T) {
	if got, want := LockName("migration", "shop", "orders"), "osc-migration:shop.orders"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	a := LockName("migration", strings.Repeat("s", 64), strings.Repeat("t", 63)+"a")
	b := LockName("migration", strings.Repeat("s", 64), strings.Repeat("t", 63)+"b")
	if a == b || len(a) > 64 {
		t.Errorf("long names: got %q and %q, want two different ones of at most 64 characters", a, b)
	}
}
