//go:build linux

package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// KillSurvivors repeats its search, because a survivor that forks during the search may have a child that was
// missed.
const (
	killRounds = 250
	killPause  = 20 * time.Millisecond
)

// survivor is a process that carries the mark of a task.
type survivor struct {
	PID  int
	Mark string
}

// survivors returns the processes whose mark begins with the prefix, as far as we may read their environment:
// a user sees only the user's own processes, root sees all. Our own session is excluded, in case a task
// started us. A prefix should end in the separator of the marks; otherwise "node1" also finds the tasks of
// node10.
func survivors(prefix string) ([]survivor, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for survivors: %w", err)
	}
	session, _ := unix.Getsid(0)
	var list []survivor
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		mark, _ := markOf(pid)
		if mark == "" || !strings.HasPrefix(mark, prefix) {
			continue
		}
		if sid, err := unix.Getsid(pid); err == nil && sid != session {
			list = append(list, survivor{pid, mark})
		}
	}
	return list, nil
}

// KillSurvivors kills the processes whose mark begins with the prefix, each with its process group, until
// there are none. It returns how many it found by their mark and killed, and an error if some do not die. An
// agent calls it before it takes its first lease, to kill the tasks of a former agent of the same name that
// was killed.
func KillSurvivors(prefix string) (int, error) {
	seen := map[int]bool{}
	for range killRounds {
		list, err := survivors(prefix)
		if err != nil || len(list) == 0 {
			return len(seen), err
		}
		for _, s := range list {
			seen[s.PID] = true
			killSurvivor(s.PID, prefix)
		}
		time.Sleep(killPause)
	}
	list, err := survivors(prefix)
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("kill survivors of %q: %d are left, the first is process %d of %s",
			prefix, len(list), list[0].PID, list[0].Mark)
	}
	return len(seen) - len(list), err
}

// killSurvivor kills a process and its group. It opens the process before it reads the mark again, so that
// the number cannot pass to another process in between.
func killSurvivor(pid int, prefix string) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer p.Release()
	if mark, _ := markOf(pid); mark == "" || !strings.HasPrefix(mark, prefix) {
		return
	}
	if group, err := unix.Getpgid(pid); err == nil && group > 1 {
		unix.Kill(-group, unix.SIGKILL)
	}
	p.Kill()
}
