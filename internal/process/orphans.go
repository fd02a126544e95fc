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
	// goesWithin is how long a process may take to die of SIGKILL before a task is
	// reported over without it. Only one that hangs in the kernel takes long.
	goesWithin = time.Second
)

// orphans are processes of tasks whose parent has ended. The kernel gives them to us and
// not to the first process of the machine, because we ask for that: so we learn of those
// that have left the session of their task, without a search through all processes, and
// need nobody else to reap them, be we the first process of a container.
//
// They are children of our main thread, and of a session that is not ours. Processes
// that we start otherwise, say with package os/exec, are in our session, and the first
// processes of tasks are children of another thread; so these are never touched here.
type orphans struct {
	file    string // of the kernel, with the children of the main thread; "" without one
	session int    // ours

	mu sync.Mutex // who holds it may rely on the numbers of orphans, as only sweep reaps
}

// adoptOrphans asks the kernel for orphans, if it can also list them.
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

// tend reaps orphans now and then until the channel is closed.
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

// end kills the orphans that carry the mark of a task that has ended. They may leave
// orphans in turn, so it looks until there are none.
func (o *orphans) end(mark string) {
	end := time.Now().Add(goesWithin)
	killed := map[int]bool{}
	for o.sweep(mark, killed) && time.Now().Before(end) {
		time.Sleep(time.Millisecond)
	}
}

// sweep reaps the orphans that have ended. It kills and notes the orphans with the mark. It
// reports whether to look again: for orphans that killed processes leave when they have
// ended, and for processes that may turn out to have the mark.
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

// reap reaps the orphans that have ended and returns the others. It looks until none has
// ended: one leaves its children to us before it can be reaped, but that may have been
// after they were listed.
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

// list are the numbers of the orphans.
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
