package agent

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/internal/api"
)

// factsEvery is the interval at which the agent reports the facts of its machine.
const factsEvery = 10 * time.Second

// facts returns the present facts of this machine.
func (m *Machine) facts() *api.Facts {
	f := &api.Facts{
		At: time.Now(), Runs: "own", AllowRoot: m.options.AllowRoot || m.options.AnyUser && os.Getuid() == 0,
		Dir: filepath.Dir(m.scripts),
	}
	switch {
	case m.options.AnyUser:
		f.Runs = "any"
	case os.Getuid() == 0:
		f.Runs = "users"
	}
	if me, err := user.Current(); err == nil {
		f.User = me.Username
	}
	var fs syscall.Statfs_t
	if syscall.Statfs(f.Dir, &fs) == nil {
		f.FreeBytes = int64(fs.Bavail) * fs.Bsize
	}
	if err := unix.Access(filepath.Join(f.Dir, "logs"), unix.W_OK); err != nil {
		f.Problem = "output cannot be written in " + f.Dir + ": " + err.Error()
	}
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) == nil {
		f.OpenFiles = int64(min(files.Cur, 1<<62))
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err == nil {
		bounds("/sys/fs/cgroup", string(own), f)
	}
	return f
}

// bounds reads the limits of the control group (version 2) of a process: the smallest among those of the
// group and its ancestors. The argument "own" is the content of /proc/self/cgroup.
func bounds(root, own string, f *api.Facts) {
	for line := range strings.Lines(own) {
		path, v2 := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !v2 {
			continue
		}
		for path = filepath.Clean(path); ; path = filepath.Dir(path) {
			dir := filepath.Join(root, path)
			least(&f.MaxMemory, number(filepath.Join(dir, "memory.max")))
			least(&f.MaxTasks, number(filepath.Join(dir, "pids.max")))
			least(&f.MaxCPUs, processors(filepath.Join(dir, "cpu.max")))
			if path == "/" || path == "." {
				break
			}
		}
	}
}

// least keeps the smaller of two bounds; 0 means no bound.
func least[N int64 | float64](have *N, n N) {
	if n > 0 && (*have == 0 || n < *have) {
		*have = n
	}
}

// number reads a number from a file of the kernel. It returns 0 if the file contains "max" or does not exist.
func number(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// processors reads a file with "quota period", in microseconds, and returns quota / period.
func processors(path string) float64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	words := strings.Fields(string(text))
	if len(words) != 2 {
		return 0
	}
	quota, err1 := strconv.ParseFloat(words[0], 64)
	period, err2 := strconv.ParseFloat(words[1], 64)
	if err1 != nil || err2 != nil || period <= 0 {
		return 0
	}
	return quota / period
}
