package linear

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// Flags say how many histories to record, and how.
type Flags struct {
	Histories int
	Length    time.Duration
	Seed      uint64
}

// Flagged defines the flags of the command line.
func Flagged() *Flags {
	f := &Flags{}
	flag.IntVar(&f.Histories, "histories", 1, "how many histories TestCampaignHistory records, each with a control")
	flag.DurationVar(&f.Length, "history", 20*time.Second,
		"how long TestCampaignHistory lets processes contend for leases")
	flag.Uint64Var(&f.Seed, "history-seed", 0, "of its faults; 0: a new one")
	return f
}

// sum sums up several histories.
type sum struct {
	histories, calls, leases, unanswered, tasks, bad, undecided, void, refused int
}

// Histories records histories of processes that contend for leases, each on a new ground, while it kills and stops
// processes, gives up calls, and restarts the database. Each history must be linearizable; histories of clients that
// bypass the fence must not be. It logs one line for each, and a summary.
func Histories(t *testing.T, f *Flags, prepare func(t *testing.T) Ground) {
	var s sum
	for n := range f.Histories {
		seed := f.Seed + uint64(n)
		if f.Seed == 0 {
			seed = uint64(time.Now().UnixNano())
		}
		t.Run(fmt.Sprint(n+1), func(t *testing.T) { s.add(t, f.Length, seed, prepare) })
	}
	fmt.Printf("figure: histories=%d calls=%d leases=%d unanswered=%d tasks=%d not-linearizable=%d undecided=%d void=%d controls-refused=%d of %d\n",
		s.histories, s.calls, s.leases, s.unanswered, s.tasks, s.bad, s.undecided, s.void, s.refused, s.histories)
}

// tries is the maximum number of recordings of a history, which is recorded again if too little happened in it, e.g.
// because the machine was busy for seconds.
const tries = 3

// add records a history and its control.
func (s *sum) add(t *testing.T, length time.Duration, seed uint64, prepare func(*testing.T) Ground) {
	began := time.Now()
	s.histories++
	a := newArena(t, prepare(t), seed)
	calls := a.record(length)
	for n := uint64(1); n < tries && Leases(calls) < len(a.to.Jobs); n++ {
		s.check(t, calls)
		a = newArena(t, prepare(t), seed+n<<32)
		calls = a.record(length)
	}
	r := s.check(t, calls)
	leases, unanswered := Leases(calls), count(calls, func(k *Call) bool { return k.Unknown })
	control := newArena(t, prepare(t), seed).control()
	refused := len(Check(control, time.Minute, "").Bad)
	if refused > 0 {
		s.refused++
	}
	fmt.Printf("history %d: -history=%v -history-seed=%d faults=%v calls=%d leases=%d unanswered=%d stale-refused=%d tasks=%d not-linearizable=%d undecided=%d; control of %d leases: refused for %d tasks; load %s, %v\n",
		s.histories, length, seed, a.faults, r.Calls, leases, unanswered, count(calls, func(k *Call) bool { return k.Stale }),
		r.Tasks, len(r.Bad), r.Undecided, Leases(control), refused, machineLoad(), time.Since(began).Round(time.Second))
	if leases < len(a.to.Jobs) {
		s.void++
		t.Errorf("void: %d leases of %d jobs", leases, len(a.to.Jobs))
	}
	if refused == 0 {
		t.Error("clients that pass over the fence were not noticed")
	}
}

// check checks a history and counts it.
func (s *sum) check(t *testing.T, calls []*Call) Result {
	t.Helper()
	r := Check(calls, time.Minute, Kept(t))
	s.calls, s.leases, s.tasks = s.calls+r.Calls, s.leases+Leases(calls), s.tasks+r.Tasks
	s.unanswered += count(calls, func(k *Call) bool { return k.Unknown })
	s.bad, s.undecided = s.bad+len(r.Bad), s.undecided+r.Undecided
	if r.String() != "" {
		t.Error(r)
	}
	return r
}

// machineLoad returns the average number of processes that want to run, over a minute.
func machineLoad() string {
	text, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(text), " ")
	return load
}

func count(calls []*Call, is func(*Call) bool) (n int) {
	for _, k := range calls {
		if is(k) {
			n++
		}
	}
	return n
}
