// Package bench measures this machine: how fast the scheduler decides, how fast jobs become durable, and how
// fast they go through a server and an agent. The command fairlead bench runs it.
package bench

import (
	"runtime"
	"syscall"
	"time"
)

// Result is one measurement.
type Result struct {
	Name      string  `json:"name"`
	Detail    string  `json:"detail"`
	PerSecond float64 `json:"per_second"`
	// CPU is the processor time of one operation in seconds, if known.
	CPU float64 `json:"cpu_seconds,omitempty"`
	// Ratio compares with the result named by Beside.
	Ratio  float64 `json:"ratio,omitempty"`
	Beside string  `json:"beside,omitempty"`
	Goal   string  `json:"goal,omitempty"`
}

// Report holds all results of a run.
type Report struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
	Go      string    `json:"go"`
	Cores   int       `json:"cores"`
	Results []Result  `json:"results"`
}

// NewReport begins a report.
func NewReport() *Report {
	return &Report{Version: 1, At: time.Now(), Go: runtime.Version(), Cores: runtime.NumCPU()}
}

// watch measures time and processor time.
type watch struct {
	began time.Time
	cpu   time.Duration
}

func start() watch { return watch{time.Now(), cpuTime()} }

func (w watch) stop(n int) (perSecond, cpu float64) {
	wall := time.Since(w.began).Seconds()
	return float64(n) / wall, (cpuTime() - w.cpu).Seconds() / float64(n)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
