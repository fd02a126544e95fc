//go:build linux

package process

import (
	"os"
	"strconv"
	"time"
)

// Used is what a running task uses: the processor time of its session up to now, the memory that its processes have in
// use, and the time since its start. Processes that left the session are not counted; shared memory counts for each
// process.
type Used struct {
	CPU     time.Duration
	Memory  int64
	Elapsed time.Duration
}

// tick is the unit of processor times in /proc, on all architectures.
const tick = time.Second / 100

// Measure returns the usage of running tasks, in one pass over all processes of the machine. For a task that has ended
// or is nil, it returns no usage.
func Measure(tasks []*Process) []Used {
	out := make([]Used, len(tasks))
	of := map[int]int{} // tasks by session
	for i, p := range tasks {
		if p != nil {
			of[p.pid] = i
			out[i].Elapsed = time.Since(p.began)
		}
	}
	if len(of) == 0 {
		return out
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return out
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		session, cpu, memory := parseStat(stat)
		if i, ours := of[session]; ours && session > 0 {
			out[i].CPU += cpu
			out[i].Memory += memory
		}
	}
	return out
}

// parseStat reads /proc/PID/stat: the session, the processor time with that of children that have ended, and the
// memory in use. The session is 0 if it cannot be read.
func parseStat(stat []byte) (session int, cpu time.Duration, memory int64) {
	fields := statFields(stat)
	const sid, utime, cstime, rss = 3, 11, 14, 21 // counted from the state
	if len(fields) <= rss {
		return 0, 0, 0
	}
	number := func(i int) int64 { n, _ := strconv.ParseInt(string(fields[i]), 10, 64); return n }
	for i := utime; i <= cstime; i++ {
		cpu += time.Duration(number(i)) * tick
	}
	return int(number(sid)), cpu, number(rss) * int64(os.Getpagesize())
}
