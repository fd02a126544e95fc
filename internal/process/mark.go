//go:build linux

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// markOf returns the mark of a process, or "". A process whose environment we may not read has none.
//
// The answer is not sure while the process is about to run another program, or about to end. While the kernel frees its
// memory, it has no environment. But a moment later it may have the mark, or unknown children with the mark.
func markOf(pid int) (mark string, sure bool) {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if mark, ok := bytes.CutPrefix(entry, []byte(markVariable+"=")); ok {
			return string(mark), true
		}
	}
	if len(env) > 0 || err != nil && !errors.Is(err, unix.ESRCH) {
		return "", true
	}
	return "", !inTransit(pid)
}

// inTransit reports whether a process with an empty environment is between two programs or at its end, or was at the
// moment of the check. If it is not, either its environment has no variables, or it continues without its first thread,
// through which we read the environment.
func inTransit(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false // the process is gone
	}
	fields := statFields(stat)
	const state, threads, envStart, envEnd = 0, 17, 47, 48 // 3 less than in proc_pid_stat(5)
	switch {
	case len(fields) <= envEnd:
		return false // Linux before 3.5
	case string(fields[state]) == "Z":
		return string(fields[threads]) == "1"
	case string(fields[envEnd]) == "0":
		return true
	}
	return !bytes.Equal(fields[envStart], fields[envEnd])
}

// statFields returns the fields of /proc/PID/stat from the third on, the state. The second one is the name in brackets,
// which may contain any character.
func statFields(stat []byte) [][]byte { return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) }
