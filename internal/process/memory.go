//go:build linux

package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Pauses between two readings of the memory of a process; the pause doubles.
const (
	firstLook   = 100 * time.Millisecond
	longestLook = time.Minute
)

// peak finds the largest memory of a process.
//
// The kernel's figure at the end (ru_maxrss) is exact, but it includes the short time between fork and exec,
// in which the child has the memory of its parent. So a small task of a large agent looks as large as the
// agent. If the figure is not above our own memory, it proves nothing, and the high-water mark of the process
// itself counts. Therefore peak reads that mark at intervals while the process runs. A task that is small and
// short has no such mark.
type peak struct {
	pid int
	own int64 // upper bound of our memory at the fork

	mu    sync.Mutex
	seen  int64
	timer *time.Timer // nil when the watch has ended
}

// watchMemory begins to watch a child that has just been forked.
func watchMemory(pid int) *peak {
	m := &peak{pid: pid, own: ownPeak()}
	m.mu.Lock()
	defer m.mu.Unlock()
	pause := firstLook
	m.timer = time.AfterFunc(pause, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.timer == nil {
			return
		}
		m.seen = max(m.seen, highWater(m.pid))
		pause = min(2*pause, longestLook)
		m.timer.Reset(pause)
	})
	return m
}

// stop ends the watch. The caller must call it before reaping the child, because later another process may
// have the number.
func (m *peak) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer.Stop()
	m.timer = nil
}

// largest returns the largest memory in bytes, given the figure of the kernel; 0 means unknown.
func (m *peak) largest(kernel int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kernel > m.own {
		return kernel
	}
	return m.seen
}

// ownPeak returns the largest memory that we have had.
func ownPeak() int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return int64(usage.Maxrss) * 1024
}

// highWater returns the largest memory that a process has had since its exec, or 0.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return 0 // a process that has ended has no memory
	}
	return kib * 1024
}
