package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/units"
)

// record is a job as Slurm describes it: slurmctld as long as it knows the job, slurmdbd forever.
type record struct {
	id, name string
	state    string // Slurm's state, without the words after it
	reason   string
	priority int64

	submitted, began, ended time.Time
	code, signal            int

	elapsed  time.Duration
	cpu      time.Duration // CPU time of its processes; 0 if Slurm does not measure it
	tres     string        // the allocation, such as cpu=1,mem=2G,gres/gpu=1
	measured bool          // it comes from the accounting
}

// phases maps Slurm's states to phases. A COMPLETING job has ended, but its nodes are not free yet.
var phases = map[string]bridge.Phase{
	"PENDING": bridge.Pending, "CONFIGURING": bridge.Pending, "REQUEUED": bridge.Pending, "REQUEUE_FED": bridge.Pending,
	"REQUEUE_HOLD": bridge.Pending, "RESV_DEL_HOLD": bridge.Pending, "SPECIAL_EXIT": bridge.Pending,
	"RUNNING": bridge.Running, "COMPLETING": bridge.Running, "SUSPENDED": bridge.Running, "STOPPED": bridge.Running,
	"RESIZING": bridge.Running, "SIGNALING": bridge.Running, "STAGE_OUT": bridge.Running,
	"COMPLETED": bridge.Succeeded,
	"FAILED":    bridge.Failed, "TIMEOUT": bridge.Failed, "NODE_FAIL": bridge.Failed, "BOOT_FAIL": bridge.Failed,
	"OUT_OF_MEMORY": bridge.Failed, "DEADLINE": bridge.Failed, "PREEMPTED": bridge.Failed,
	"CANCELLED": bridge.Cancelled, "REVOKED": bridge.Cancelled,
}

// causes explains states of failure in words.
var causes = map[string]string{
	"TIMEOUT": "it ran into its time limit", "NODE_FAIL": "a node of it failed", "BOOT_FAIL": "its node did not boot",
	"OUT_OF_MEMORY": "it used more memory than it had asked for", "DEADLINE": "it could not end before its deadline",
	"PREEMPTED": "Slurm preempted it for another job",
}

func (r *record) phase() bridge.Phase { return phases[r.state] }

// over reports whether the job has ended.
func (r *record) over() bool { return r.phase() >= bridge.Succeeded }

// status returns the record as a bridge.Status.
func (r *record) status() bridge.Status {
	s := bridge.Status{Phase: r.phase(), ID: r.id, Says: r.state, Began: r.began, Ended: r.ended}
	if r.reason != "" && r.reason != "None" {
		s.Says += " (" + r.reason + ")"
	}
	if !r.over() {
		s.Ended = time.Time{}
	}
	if s.Phase == bridge.Pending {
		s.Began = time.Time{} // Slurm gives the expected start
		return s
	}
	if r.over() && !r.began.IsZero() {
		s.Used = r.used()
	}
	if s.Phase != bridge.Failed {
		return s
	}
	s.ExitCode = r.code
	switch {
	case causes[r.state] != "":
		s.Error = fmt.Sprintf("Slurm: %s: %s", r.state, causes[r.state])
	case r.signal != 0:
		s.Error = fmt.Sprintf("ended by signal %d", r.signal)
	case r.code == 0 || r.reason != "" && r.reason != "None" && r.reason != "NonZeroExitCode":
		s.Error = "Slurm: " + s.Says
	default:
		s.Error = fmt.Sprintf("exit code %d", r.code)
	}
	if s.ExitCode == 0 {
		s.ExitCode = -1
	}
	return s
}

// used returns the use of the job. If Slurm does not measure CPU time, the allocation counts.
func (r *record) used() *frontback.Use {
	u := &frontback.Use{Seconds: r.elapsed.Seconds(), CPUSeconds: r.cpu.Seconds(), Resources: resources(r.tres)}
	u.Processes = max(1, u.Resources["cpu"])
	if r.cpu == 0 {
		u.CPUSeconds = u.Seconds * u.Processes
	}
	return u
}

// resources reads the allocation, and translates the names of resources.
func resources(tres string) map[string]float64 {
	all := map[string]float64{}
	for item := range strings.SplitSeq(tres, ",") {
		name, text, _ := strings.Cut(item, "=")
		n, err := strconv.ParseFloat(text, 64)
		if size, bad := units.ParseSize(text); err != nil && bad == nil {
			n, err = float64(size), nil
		} else if name == "mem" {
			n *= 1 << 20 // megabytes if it has no unit
		}
		if err != nil || name == "billing" || name == "energy" {
			continue
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "gres/"), "license/")
		all[name] = n
	}
	return all
}

// clock reads a duration as sacct writes it: [days-][hours:]minutes:seconds.
func clock(text string) time.Duration {
	days, rest, found := strings.Cut(text, "-")
	if !found {
		days, rest = "0", text
	}
	whole, _ := strconv.ParseFloat(days, 64)
	seconds := 0.0
	for part := range strings.SplitSeq(rest, ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0
		}
		seconds = seconds*60 + n
	}
	return time.Duration((whole*86400 + seconds) * float64(time.Second))
}

// instant reads seconds since 1970; for any other text it returns the zero time.
func instant(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0)
}
