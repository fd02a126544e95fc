package sim_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/internal/sim"
)

// plain is the slow, obvious simulator. It searches lists from the beginning and follows the rules of fcfs,
// easy and conservative backfilling in the literature.
type plain struct {
	procs   int
	jobs    []sim.Job
	start   []int64
	now     int64
	running []int // jobs
	waiting []int // jobs, in order
	slot    map[int]int64
}

func newPlain(w *sim.Workload) *plain {
	return &plain{procs: w.Procs, jobs: w.Jobs, start: make([]int64, len(w.Jobs)), slot: map[int]int64{}}
}

// run returns the starts. A job of no length ends in a second pass of its second.
func (p *plain) run(pass func(ended bool, fresh []int)) []int64 {
	for next := 0; next < len(p.jobs) || len(p.running) > 0; {
		p.now = math.MaxInt64
		if next < len(p.jobs) {
			p.now = p.jobs[next].Submit
		}
		for _, i := range p.running {
			p.now = min(p.now, p.start[i]+p.jobs[i].Run)
		}
		before := len(p.running)
		p.running = slices.DeleteFunc(p.running, func(i int) bool { return p.start[i]+p.jobs[i].Run <= p.now })
		var fresh []int
		for ; next < len(p.jobs) && p.jobs[next].Submit == p.now; next++ {
			fresh = append(fresh, next)
		}
		p.waiting = append(p.waiting, fresh...)
		pass(len(p.running) < before, fresh)
	}
	return p.start
}

func (p *plain) size(i int) int { return int(p.jobs[i].Procs) }

// planned returns the planned run time of a job, at least one second, because the core accepts no plan of no
// length.
func (p *plain) planned(i int) int64 { return max(1, p.jobs[i].Estimate) }

func (p *plain) free() int {
	free := p.procs
	for _, i := range p.running {
		free -= p.size(i)
	}
	return free
}

func (p *plain) begin(i int) {
	p.start[i] = p.now
	p.running = append(p.running, i)
	p.waiting = slices.DeleteFunc(p.waiting, func(k int) bool { return k == i })
}

func (p *plain) fcfs(bool, []int) {
	for len(p.waiting) > 0 && p.size(p.waiting[0]) <= p.free() {
		p.begin(p.waiting[0])
	}
}

func (p *plain) easy(ended bool, fresh []int) {
	p.fcfs(ended, fresh)
	if len(p.waiting) == 0 {
		return
	}
	head := p.waiting[0]
	byEnd := slices.Clone(p.running)
	slices.SortFunc(byEnd, func(a, b int) int { return cmp.Compare(p.start[a]+p.planned(a), p.start[b]+p.planned(b)) })
	shadow, extra := int64(0), p.free()
	for k, i := range byEnd {
		extra += p.size(i)
		shadow = p.start[i] + p.planned(i)
		if last := k == len(byEnd)-1 || p.start[byEnd[k+1]]+p.planned(byEnd[k+1]) > shadow; last && extra >= p.size(head) {
			break
		}
	}
	extra -= p.size(head)
	for _, i := range slices.Clone(p.waiting[1:]) {
		switch {
		case p.size(i) > p.free():
		case p.now+p.planned(i) <= shadow:
			p.begin(i)
		case p.size(i) <= extra:
			extra -= p.size(i)
			p.begin(i)
		}
	}
}

func (p *plain) conservative(ended bool, fresh []int) {
	if ended {
		for _, i := range p.waiting {
			if _, has := p.slot[i]; has {
				delete(p.slot, i)
				p.slot[i] = p.hole(i)
			}
		}
	}
	for _, i := range fresh {
		p.slot[i] = p.hole(i)
	}
	for _, i := range slices.Clone(p.waiting) {
		if p.slot[i] == p.now {
			delete(p.slot, i)
			p.begin(i)
		}
	}
}

// hole returns the earliest instant from which a job fits until its planned end.
func (p *plain) hole(i int) int64 {
	tries := []int64{p.now}
	for _, k := range p.running {
		tries = append(tries, p.start[k]+p.planned(k))
	}
	for k, at := range p.slot {
		tries = append(tries, at+p.planned(k))
	}
	slices.Sort(tries)
	for _, at := range tries {
		if at >= p.now && p.fitsFrom(i, at) {
			return at
		}
	}
	panic("there is room at last")
}

func (p *plain) fitsFrom(i int, from int64) bool {
	to := from + p.planned(i)
	instants := []int64{from}
	for _, at := range p.slot {
		if at > from && at < to {
			instants = append(instants, at)
		}
	}
	for _, at := range instants {
		used := p.size(i)
		for _, k := range p.running {
			if at < p.start[k]+p.planned(k) {
				used += p.size(k)
			}
		}
		for k, begins := range p.slot {
			if begins <= at && at < begins+p.planned(k) {
				used += p.size(k)
			}
		}
		if used > p.procs {
			return false
		}
	}
	return true
}

// passes maps the name of a backfill rule to its functions.
func (p *plain) passes() map[string]func(bool, []int) {
	return map[string]func(bool, []int){"fcfs": p.fcfs, "easy": p.easy, "cons": p.conservative}
}

// TestAgainstThePlainSimulator checks that every job starts in the same second as in the slow simulator.
func TestAgainstThePlainSimulator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, _ := drawn(t)
		for _, how := range slices.Sorted(maps.Keys(backfills)) {
			p := newPlain(w)
			pass, known := p.passes()[how]
			if !known {
				continue
			}
			want := p.run(pass)
			r, err := sim.Run(w, sim.Options{Config: fifo(backfills[how]), Bare: true})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Schedule.Start, want) {
				t.Fatalf("%s: starts %v, want %v", how, r.Schedule.Start, want)
			}
		}
	})
}

// TestRealAgainstThePlainSimulator does the same with logs of real machines, where they exist. It tries
// conservative backfilling only with short queues.
func TestRealAgainstThePlainSimulator(t *testing.T) {
	for name, ways := range map[string][]string{
		"curie-30k": {"fcfs", "easy"}, "ctc-sp2": {"fcfs", "easy"}, "llnl-atlas": {"fcfs", "easy"}, "lublin-256": {"fcfs",
			"easy"},
		"nasa-ipsc": {"fcfs", "easy", "cons"}, "sdsc-sp2-5k": {"fcfs", "easy", "cons"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := load(t, name)
			for _, how := range ways {
				p := newPlain(w)
				want := p.run(p.passes()[how])
				r, err := sim.Run(w, sim.Options{Config: fifo(backfills[how]), Bare: true})
				if err != nil {
					t.Fatal(err)
				}
				for i, start := range r.Schedule.Start {
					if start != want[i] {
						t.Fatalf("%s: job %d starts at %d, want %d", how, w.Jobs[i].ID, start, want[i])
					}
				}
			}
		})
	}
}
