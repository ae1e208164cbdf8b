package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"

	"rowproof/harness/freeze"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
)

// What runs need.
const (
	enoughMemory    = 512 << 20 // a source and its replica with some data
	enoughDisk      = 500 << 20 // run directories and built programs
	enoughForImages = 3 << 30   // two images and the packages that they are made from
)

// examine does all checks, in the order in which one needs the other.
func examine(ctx context.Context, clean bool, tell func(answer)) {
	tell(examineGo(ctx))
	state, err := topology.ExamineEngine(ctx)
	if err != nil {
		tell(answer{"engine", answerMissing, oneLine(err), "install and start Docker, or set DOCKER_HOST"})
		tell(examineMemory(ctx, topology.EngineState{Local: true}))
		return
	}
	tell(examineEngine(state))
	built := examineImages(ctx, tell)
	if built {
		examineServer(ctx, tell)
	}
	tell(examineMemory(ctx, state))
	examineDisk(ctx, state, built, tell)
	tell(examinePorts(ctx, state))
	examineLeftovers(ctx, clean, tell)
}

func examineGo(ctx context.Context) answer {
	root, err := subject.ModuleRoot()
	if err != nil {
		return answer{"go", answerMissing, oneLine(err), "run rowproof inside its source tree"}
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	cmd.Dir = root
	version, err := cmd.Output()
	if err != nil {
		return answer{"go", answerMissing, "the go command does not answer (" + oneLine(err) + ")", "install the Go version that go.mod names, or put it in PATH"}
	}
	return answer{"go", answerOK, strings.TrimSpace(string(version)) + ", module in " + root, ""}
}

func examineEngine(s topology.EngineState) answer {
	where, rights, network := "not on this machine", "not rootless", "the host's network"
	if s.Local {
		where = "on this machine"
	}
	if s.Rootless {
		rights = "rootless"
	}
	if s.Bridge {
		network = "published ports"
	}
	text := fmt.Sprintf("Docker %s at %s, %s, %s; servers on %s", s.Version, s.Address, where, rights, network)
	if !s.Local && !s.Bridge {
		return answer{"engine", answerNote, text, "if it is in a virtual machine, set " + topology.NetworkVariable + "=bridge"}
	}
	return answer{"engine", answerOK, text, ""}
}

// examineImages reports whether the servers' image is there.
func examineImages(ctx context.Context, tell func(answer)) (built bool) {
	states, err := topology.ExamineImages(ctx)
	if err != nil {
		tell(answer{"image", answerMissing, oneLine(err), "see whether the engine works"})
		return false
	}
	for i, s := range states {
		text := s.Name + " for " + s.For
		if s.Chosen != "" {
			text += ", made from " + s.Base + " as " + s.Chosen + " says"
		}
		switch {
		case s.Built:
			tell(answer{"image", answerOK, text, ""})
		case s.Based:
			tell(answer{"image", answerNote, text + " is not there", "its first use builds it, in under a minute"})
		case s.Chosen != "":
			tell(answer{"image", answerNote, text + " is not there", "its first use pulls " + s.Base + " and builds it"})
		default:
			tell(answer{"image", answerNote, text + " is not there", "its first use builds it from Debian's packages, in some minutes"})
		}
		built = built || i == 0 && s.Built
	}
	return built
}

// examineServer starts a server, since nothing else shows that one starts.
func examineServer(ctx context.Context, tell func(answer)) {
	began := time.Now()
	cluster, err := topology.Start(ctx, topology.Spec{})
	if err != nil {
		tell(answer{"server", answerMissing, oneLine(err), "see the container's log with docker logs"})
		return
	}
	took := time.Since(began)
	frozen := freezable(ctx, cluster.Source())
	if err := cluster.Close(); err != nil {
		tell(answer{"server", answerMissing, oneLine(err), "end the container with docker rm -f"})
		return
	}
	tell(answer{"server", answerOK, fmt.Sprintf("MySQL %s answers after %.1f s", cluster.Source().Version, took.Seconds()), ""})
	if frozen != nil {
		tell(answer{"freeze", answerNote, "no thread of a server can be frozen, " + oneLine(frozen),
			"scenarios that need it are not carried through here"})
		return
	}
	tell(answer{"freeze", answerOK, "a server's threads can be frozen", ""})
}

// freezable tries whether a thread of the server can be frozen, as faults do
// it. The error says in one line what stands in the way.
func freezable(ctx context.Context, s *topology.Server) error {
	pid, err := s.PID(ctx)
	if err != nil {
		return err
	}
	thread, err := freeze.Freeze(ctx, pid, time.Minute)
	if err != nil {
		return err
	}
	return thread.Thaw()
}

func examineMemory(ctx context.Context, s topology.EngineState) answer {
	if !s.Local {
		return sized("memory", s.Memory, enoughMemory, "on the engine's machine in all")
	}
	found, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return answer{"memory", answerNote, "not known: " + oneLine(err), ""}
	}
	return sized("memory", found.Available, enoughMemory, "free")
}

// examineDisk looks at where runs are stored, where programs are built, and
// where the engine keeps its images, as far as that can be seen from here.
func examineDisk(ctx context.Context, s topology.EngineState, built bool, tell func(answer)) {
	need := map[string]uint64{os.TempDir(): enoughDisk}
	places := []string{os.TempDir()}
	add := func(path string, least uint64) {
		if _, seen := need[path]; !seen {
			places = append(places, path)
		}
		need[path] = max(need[path], least)
	}
	if root, err := subject.ModuleRoot(); err == nil {
		add(filepath.Join(root, "reports"), enoughDisk)
	}
	if s.Local && !built {
		add(s.Root, enoughForImages)
	}
	for _, path := range places {
		found, err := disk.UsageWithContext(ctx, path)
		if err != nil {
			tell(answer{"disk", answerNote, path + ": not known: " + oneLine(err), ""})
			continue
		}
		tell(sized("disk", found.Free, need[path], "free in "+path))
	}
}

// sized compares an amount with what is needed.
func sized(name string, got, least uint64, where string) answer {
	text := fmt.Sprintf("%.1f GB %s", float64(got)/(1<<30), where)
	if got < least {
		return answer{name, answerMissing, text, fmt.Sprintf("free some, %.1f GB are needed", float64(least)/(1<<30))}
	}
	return answer{name, answerOK, text, ""}
}

func examinePorts(ctx context.Context, s topology.EngineState) answer {
	if s.Bridge {
		return answer{"ports", answerOK, "the engine chooses them", ""}
	}
	first, last, used, err := topology.Ports(ctx)
	if err != nil {
		return answer{"ports", answerNote, oneLine(err), ""}
	}
	all := last - first + 1
	text := fmt.Sprintf("%d of the %d from %d to %d on loopback are free", all-len(used), all, first, last)
	if len(used) > all/2 { // a port is found by trying
		return answer{"ports", answerMissing, text, "end what uses them"}
	}
	return answer{"ports", answerOK, text, ""}
}

func examineLeftovers(ctx context.Context, clean bool, tell func(answer)) {
	left, err := topology.Leftovers(ctx)
	if err != nil {
		tell(answer{"leftovers", answerNote, oneLine(err), ""})
		return
	}
	if len(left) == 0 {
		tell(answer{"leftovers", answerOK, "none", ""})
	}
	for _, l := range left {
		tell(examineLeftover(ctx, l, clean, topology.RemoveLeftover))
	}
}

func examineLeftover(ctx context.Context, l topology.Leftover, clean bool, remove func(context.Context, topology.Leftover) error) answer {
	id := l.ID
	command := "docker rmi " + id
	if l.Kind == "container" {
		id = short(id)
		command = "docker rm -f " + id
	}
	text := fmt.Sprintf("%s %s: %s", l.Kind, id, l.Why)
	switch {
	case l.Kept:
		return answer{"leftovers", answerNote, text, "if you know it to be over, " + command}
	case !clean:
		return answer{"leftovers", answerNote, text, "rowproof doctor --clean removes it"}
	}
	if err := remove(ctx, l); err != nil {
		return answer{"leftovers", answerNote, text, oneLine(err)}
	}
	return answer{"leftovers", answerOK, "removed " + text, ""}
}

// oneLine keeps an error readable in a line.
func oneLine(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return strings.TrimSpace(strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")[0])
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
