package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rowproof/harness/bench/figures"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
)

// contender is a way to do the job.
type contender struct {
	name    string
	command string                               // as a person would type it
	run     func(context.Context) (usage, error) // the whole job
	stream  streamer                             // how it is held, if it follows the binlog
}

// usage is what a run took from the machine.
type usage struct {
	peakBytes int64
	cpu       time.Duration
}

// idle is the contender that does nothing for a while.
func idle(d time.Duration) contender {
	return contender{name: figures.None, command: "no migration", run: func(ctx context.Context) (usage, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return usage{}, nil
		case <-ctx.Done():
			return usage{}, context.Cause(ctx)
		}
	}}
}

// statement is the server's own ALTER.
func statement(s *site, algorithm string) contender {
	text := fmt.Sprintf("ALTER TABLE %s %s, ALGORITHM=%s", s.name(), Alter, algorithm)
	return contender{name: algorithm, command: text, run: func(ctx context.Context) (usage, error) {
		return usage{}, s.exec(ctx, text)
	}}
}

// process is a contender that is a program on this machine.
func process(name, logs string, c subject.Command, hidden ...string) contender {
	return contender{name: name, command: visible(c.Argv, hidden), run: func(ctx context.Context) (usage, error) {
		p, err := subject.Start(ctx, c, filepath.Join(logs, name+".log"))
		if err != nil {
			return usage{}, err
		}
		return finish(ctx, p, filepath.Join(logs, name+".log"))
	}}
}

// finish waits for a process to end well.
func finish(ctx context.Context, p subject.Running, log string) (usage, error) {
	<-p.Done() // it is killed when ctx ends
	r, err := p.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return usage{}, err
	}
	if r.Exit.Outcome != subject.Completed {
		return usage{}, fmt.Errorf("%s with status %d: %s (all it said: %s)", r.Exit.Outcome, r.Exit.Code, r.Exit.Message, log)
	}
	return usage{peakBytes: r.PeakRSS, cpu: r.CPU}, nil
}

// byStatus is the outcome of a tool of which only success matters here.
func byStatus(status int, _ string) string {
	if status == 0 {
		return subject.Completed
	}
	return subject.Aborted
}

// visible returns a command line without the directory of the program and
// without the flags that say where the server is.
func visible(argv, hidden []string) string {
	words := []string{filepath.Base(argv[0])}
	for i := 1; i < len(argv); i++ {
		name, _, joined := strings.Cut(argv[i], "=")
		skip := false
		for _, h := range hidden {
			skip = skip || name == h
		}
		switch {
		case skip && joined:
		case skip: // and its value
			i++
		case strings.ContainsAny(argv[i], " ;,"):
			words = append(words, `"`+argv[i]+`"`)
		default:
			words = append(words, argv[i])
		}
	}
	return strings.Join(words, " ")
}

// ptOsc is pt-online-schema-change in its container.
func ptOsc(s *site, box *topology.Toolbox) (contender, error) {
	host, port, err := box.Reach(s.server.Addr)
	if err != nil {
		return contender{}, err
	}
	account := topology.Root()
	options := []string{"--execute", "--no-version-check", "--recursion-method=none", "--alter=" + Alter}
	dsn := fmt.Sprintf("h=%s,P=%s,u=%s,D=%s,t=%s", host, port, account.User, topology.Database, s.table.Name)
	args := append(options[:len(options):len(options)], dsn)
	return contender{
		name:    "pt-osc",
		command: "pt-online-schema-change " + strings.Join(options, " "),
		run: func(ctx context.Context) (usage, error) {
			if err := box.Start(ctx, args, []string{"MYSQL_PWD=" + account.Password}); err != nil {
				return usage{}, err
			}
			r, err := box.Wait(ctx)
			if err != nil {
				return usage{}, err
			}
			if r.Status != 0 {
				return usage{}, fmt.Errorf("aborted with status %d (all it said: pt-osc.log)", r.Status)
			}
			return usage{peakBytes: r.PeakRSS, cpu: r.CPU}, nil
		},
	}, nil
}

// writeClient writes an option file with the account, for tools that would
// else want the password among their arguments.
func writeClient(dir string, a topology.Account) (string, error) {
	path := filepath.Join(dir, "client.cnf")
	text := fmt.Sprintf("[client]\nuser=%s\npassword=%s\n", a.User, a.Password)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write option file: %w", err)
	}
	return path, nil
}
