package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// Settings are session variables and their values: {"binlog_format":
// "STATEMENT", "sql_log_bin": "OFF"}.
type Settings map[string]string

// WriteWith commits writes as one transaction in a session with other
// settings than the application's. The account is root, who alone may change
// some of them; the path is the application's. The driver goes on sending
// UTF-8, so with another character_set_client only ASCII texts arrive as they
// are.
func WriteWith(settings Settings, writes ...workload.Write) Action {
	name := "write " + summary(writes) + " with " + strings.Join(settings.list(), ", ")
	return Action{Name: name, Writes: writes, Do: func(ctx context.Context, s *Site) error {
		connector, err := mysql.NewConnector(topology.Root().Config(s.Links.App.Addr, s.Schema))
		if err != nil {
			return fmt.Errorf("open a session: %w", err)
		}
		db := sql.OpenDB(connector)
		client := workload.NewClient("fault", db, s.Recorder)
		err = settings.set(ctx, client)
		if err == nil {
			err = client.Do(ctx, writes...)
		}
		return errors.Join(err, client.Close(), db.Close())
	}}
}

func (v Settings) list() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		all = append(all, name+"="+v[name])
	}
	return all
}

// set makes the settings and finds that the session has them.
func (v Settings) set(ctx context.Context, client *workload.Client) error {
	names := slices.Sorted(maps.Keys(v))
	for _, name := range names {
		if err := client.Set(ctx, "SET SESSION "+workload.Quote(name)+" = "+workload.Literal(v[name])); err != nil {
			return err
		}
	}
	for _, name := range names {
		got, err := client.Variable(ctx, name)
		if err != nil {
			return err
		}
		if !means(got, v[name]) {
			return fmt.Errorf("the session's %s is %q, want %q", name, got, v[name])
		}
	}
	return nil
}

// means reports whether the server's text of a value is the value, or holds
// its parts, as an SQL mode does that stands for several.
func means(got, want string) bool {
	switch want {
	case "0":
		want = "OFF,0"
	case "1":
		want = "ON,1"
	}
	if strings.EqualFold(got, want) {
		return true
	}
	has := func(list, part string) bool {
		return slices.ContainsFunc(strings.Split(list, ","), func(p string) bool { return strings.EqualFold(p, part) })
	}
	if want == "OFF,0" || want == "ON,1" {
		return has(want, got)
	}
	for part := range strings.SplitSeq(want, ",") {
		if !has(got, part) {
			return false
		}
	}
	return true
}
