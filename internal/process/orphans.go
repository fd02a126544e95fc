//go:build linux

package process

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// orphansEvery is how long an orphan that ended may wait to be reaped.
	orphansEvery = time.Second
	// goesWithin is how long we wait for a process to die of SIGKILL before we report its task as over. Only
	// a process that hangs in the kernel takes longer.
	goesWithin = time.Second
)

// orphans are processes of tasks whose parent has ended. We ask the kernel to make them our children,
// instead of children of the first process of the machine. So we learn of processes that have left the
// session of their task, without a search through all processes. And no other process is needed to reap
// them, even if we are the first process of a container.
//
// Orphans are children of our main thread, in a session that is not ours. Processes that we start in other
// ways, say with package os/exec, are in our session. The first processes of tasks are children of another
// thread. So this code touches neither kind.
type orphans struct {
	file    string // kernel file with the children of the main thread; "": none
	session int    // ours

	mu sync.Mutex // while it is held, the numbers of orphans stay valid, as only sweep reaps
}

// adoptOrphans asks the kernel for orphans, if the kernel can also list them.
func adoptOrphans() *orphans {
	file := fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())
	session, err := unix.Getsid(0)
	if err != nil {
		return &orphans{}
	}
	if _, err := os.ReadFile(file); err != nil {
		return &orphans{}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return &orphans{}
	}
	return &orphans{file: file, session: session}
}

// tend reaps orphans at intervals until the channel is closed.
func (o *orphans) tend(closed <-chan struct{}) {
	tick := time.NewTicker(orphansEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			o.sweep("", nil)
		case <-closed:
			return
		}
	}
}

// end kills the orphans that carry the mark of a task that has ended. They may leave orphans in turn, so it
// repeats until there are none.
func (o *orphans) end(mark string) {
	end := time.Now().Add(goesWithin)
	killed := map[int]bool{}
	for o.sweep(mark, killed) && time.Now().Before(end) {
		time.Sleep(time.Millisecond)
	}
}

// sweep reaps the orphans that have ended. It kills the orphans with the mark, and adds them to killed. It
// reports whether the caller must look again: killed processes may leave orphans when they have ended, and
// other processes may turn out to have the mark.
func (o *orphans) sweep(mark string, killed map[int]bool) (again bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, pid := range o.reap() {
		if mark == "" {
			continue
		}
		has, sure := markOf(pid)
		again = again || !sure || killed[pid]
		if has != mark {
			continue
		}
		again, killed[pid] = true, true
		if group, err := unix.Getpgid(pid); err == nil && group > 1 {
			unix.Kill(-group, unix.SIGKILL)
		}
		unix.Kill(pid, unix.SIGKILL)
	}
	return again
}

// reap reaps the orphans that have ended and returns the others. It repeats until none has ended: an orphan
// leaves its children to us before it can be reaped, perhaps after we made the list.
func (o *orphans) reap() []int {
	for {
		ended := false
		running := slices.DeleteFunc(o.list(), func(pid int) bool {
			reaped, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
			ended = ended || reaped == pid
			return reaped == pid || err != nil
		})
		if !ended {
			return running
		}
	}
}

// list returns the numbers of the orphans.
func (o *orphans) list() (pids []int) {
	if o.file == "" {
		return nil
	}
	data, err := os.ReadFile(o.file)
	if err != nil {
		return nil
	}
	for text := range strings.FieldsSeq(string(data)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			continue
		}
		if session, err := unix.Getsid(pid); err == nil && session != o.session {
			pids = append(pids, pid)
		}
	}
	return pids
}
