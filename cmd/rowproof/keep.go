package main

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"rowproof/harness/history"
	"rowproof/reports"
)

// keptEnding is how the scenarios ended whose last run's servers are kept.
func keptEnding(e history.Event) ending {
	if e.Error != "" {
		return ending{err: errors.New(e.Error)}
	}
	return ending{}
}

// sayKept shows how to look at the servers that are kept, and how to end
// them.
func sayKept(w io.Writer, e history.Event) {
	say(w, "\nThe servers of %s on %s are up, as the run left them:", e.Scenario, reports.EventSubject(e))
	k := e.Kept
	var ids []string
	for _, s := range k.Servers {
		host, port, err := net.SplitHostPort(s.Addr)
		if err != nil {
			host, port = s.Addr, ""
		}
		ids = append(ids, short(s.Container))
		say(w, "\n  %s: MySQL %s, container %s", s.Name, s.Version, short(s.Container))
		say(w, "    mysql --defaults-file=%s -h%s -P%s %s", filepath.Join(k.Logins, k.Users[0]+".cnf"), host, port, k.Schema)
		say(w, "    docker exec -it --env-file %s %s mysql -u%s -S%s %s",
			filepath.Join(k.Logins, k.Users[0]+".env"), short(s.Container), k.Users[0], s.Socket, k.Schema)
		say(w, "    docker logs %s", short(s.Container))
	}
	say(w, "\nThe files hold the password; there is one for each of %s.", strings.Join(k.Users, ", "))
	say(w, "Run directory: %s", e.Dir)
	say(w, "\nCtrl-C here removes the servers, and so does: kill %d", os.Getpid())
	say(w, "Without this process: docker rm -f %s", strings.Join(ids, " "))
}

// short is a container's ID as docker shows it.
func short(id string) string { return id[:min(len(id), 12)] }
