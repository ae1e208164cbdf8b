package subject

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// A subject's memory is looked at often while it is young, since it may not
// grow old, and then ever more rarely. The kernel keeps the peak itself, so
// only growth in the last interval can be missed.
const (
	watchFirst = time.Millisecond
	watchEvery = 50 * time.Millisecond
)

// memoryWatch asks the kernel for the peak memory of a process again and
// again, since the answer is gone once the process is.
type memoryWatch struct {
	quit chan struct{}
	peak chan int64
}

func watchMemory(pid int) memoryWatch {
	w := memoryWatch{quit: make(chan struct{}), peak: make(chan int64)}
	go func() {
		interval := watchFirst
		tick := time.NewTicker(interval)
		defer tick.Stop()
		peak := currentPeakRSS(pid)
		for {
			select {
			case <-tick.C:
				peak = max(peak, currentPeakRSS(pid))
				interval = min(2*interval, watchEvery)
				tick.Reset(interval)
			case <-w.quit:
				w.peak <- peak
				return
			}
		}
	}()
	return w
}

// stop ends the watch and returns the peak seen, in bytes.
func (w memoryWatch) stop() int64 {
	close(w.quit)
	return <-w.peak
}

// peakRSS returns the peak memory of an ended process, in bytes. The exact
// figure comes with its exit, but on Linux a child begins in its parent's
// memory and that counts for it too: a figure no larger than the harness's
// own peak (inherited) may be the harness's, and what was sampled is better.
func peakRSS(state *os.ProcessState, inherited, sampled int64) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return sampled
	}
	if exact := rusageBytes(usage); exact > inherited || sampled == 0 {
		return exact
	}
	return sampled
}

// selfPeakRSS returns the harness's own peak memory in bytes.
func selfPeakRSS() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return rusageBytes(&usage)
}

// rusageBytes returns a peak in bytes; Linux counts it in units of 1024.
func rusageBytes(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
