package sched_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// contest is a machine that two users share in halves: one has a flood of narrow tasks, and the other submits wide jobs
// later.
type contest struct {
	*world
	rng     *rand.Rand
	mix     mix
	limits  string // none, exact or loose
	lengths map[int64]time.Duration
	runs    []plantRun
	starts  []time.Duration // of the wide jobs
	wide    map[int64]bool
}

// mix is the work of a contest: the number of narrow tasks for each eight processors, how long they run, and the wide
// jobs.
type mix struct {
	narrow   int
	min, max time.Duration
	jobs     int
	wide     time.Duration
}

// mixes differ in the narrow tasks: some of them are very short, or all run for long beside the wide jobs.
var mixes = map[string]mix{
	"minute": {1200, time.Second, time.Minute, 10, time.Minute},
	"short":  {900, 20 * time.Second, 80 * time.Second, 20, 40 * time.Second},
}

// site is a number of nodes with the same number of processors each, or of GPUs where processors abound. A wide job
// takes all of them: as a gang of one task for each node, if there are several nodes.
type site struct {
	nodes, each int
	gpus        bool
}

func (s site) String() string {
	if s.gpus {
		return fmt.Sprintf("%dx%d gpus", s.nodes, s.each)
	}
	return fmt.Sprintf("%dx%d", s.nodes, s.each)
}

// ask returns a request for a number of processors, or for the same number of GPUs with one processor each.
func (s site) ask(n int) sched.Request {
	r := sched.Request{Amounts: cluster.Amounts{"cpu": int64(n)}}
	if s.gpus {
		r.Amounts["gpu"] = int64(n)
	}
	return r
}

// wide is the request of a wide job.
func (s site) wide() sched.Request {
	r := s.ask(s.each)
	if s.nodes > 1 {
		r.Gang = s.nodes
	}
	return r
}

// all makes some tests run all cases. Without it they run few cases, because all take minutes.
var all = flag.Bool("all", false, "all seeds of TestLargestLag, and all sites of TestWideJobsGetTheirShare")

// sitesOf returns the sites of contests. A plan of all waiting jobs takes long on the large ones.
func sitesOf(backfill sched.Backfill, limits string) []site {
	one, four, gpus := site{1, 8, false}, site{4, 4, false}, site{1, 8, true}
	switch {
	case !*all && backfill == sched.Conservative && limits != "none":
		return []site{one}
	case backfill != sched.EASY:
		return []site{one, four}
	case !*all:
		return []site{one, four, gpus}
	}
	return []site{one, four, gpus, {1, 128, false}, {32, 4, false}}
}

// contestOf makes a contest on a site.
func contestOf(
	t testing.TB, policyName string, backfill sched.Backfill, where site, m mix, limits string, seed uint64,
) *contest {
	t.Helper()
	root := share.Pool{Policy: policyName, Pools: []share.Pool{{Name: "narrow", Weight: 1}, {Name: "wide", Weight: 1}}}
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Backfill: backfill,
		HalfLife: time.Hour, Depth: 1000}, epoch, seed)
	if err != nil {
		t.Fatal(err)
	}
	c := &contest{world: &world{Scheduler: s, now: epoch}, rng: rand.New(rand.NewPCG(seed, 1)), mix: m, limits: limits,
		lengths: map[int64]time.Duration{}, wide: map[int64]bool{}}
	for i := range where.nodes {
		has := cluster.Amounts{"cpu": int64(where.each)}
		if where.gpus {
			has = cluster.Amounts{"cpu": 4 * int64(where.each), "gpu": int64(where.each)}
		}
		s.Join(fmt.Sprintf("n%d", i), has, epoch)
	}
	for range m.narrow * where.nodes * where.each / 8 {
		length := m.min + time.Duration(c.rng.Int64N(int64((m.max-m.min)/time.Second)+1))*time.Second
		limit := map[string]time.Duration{"exact": length, "loose": 24 * time.Hour}[limits]
		c.add("narrow", where.ask(1), length, limit)
	}
	return c
}

func (c *contest) add(pool string, ask sched.Request, length, limit time.Duration) int64 {
	id := int64(len(c.lengths) + 1)
	c.lengths[id] = length
	c.Add(sched.Job{ID: id, Pool: c.Pool(pool), Key: c.KeyOf(ask), Priority: 2, Tasks: max(1, ask.Gang), Limit: limit,
		Submitted: c.now}, c.now)
	return id
}

// run continues until an instant, or until all wide jobs have started.
func (c *contest) run(until time.Time) {
	for c.now.Before(until) && (len(c.wide) == 0 || len(c.starts) < len(c.wide)) {
		c.begin()
		next := until
		for _, r := range c.runs {
			if r.ends.Before(next) {
				next = r.ends
			}
		}
		c.now = next
		left := c.runs[:0]
		for _, r := range c.runs {
			if r.ends.After(c.now) {
				left = append(left, r)
			} else {
				c.Finish(r.id, c.now, true)
			}
		}
		c.runs = left
	}
}

// begin starts all tasks that can start now.
func (c *contest) begin() {
	for d := (sched.Decision{More: true}); d.More; {
		c.Step(c.now, 0, &d)
		for _, st := range d.Starts {
			c.runs = append(c.runs, plantRun{st.Run, c.now.Add(c.lengths[st.Job])})
			if c.wide[st.Job] {
				c.wide[st.Job] = false
				c.starts = append(c.starts, c.now.Sub(epoch))
			}
		}
	}
}

// TestWideJobsGetTheirShare: a user who is entitled to half of the machine, and whose jobs need all of it, gets half of
// the time, however many narrow tasks of another user wait. The last of the wide jobs starts within one and a half
// times the time that follows from the share, with and without time limits.
func TestWideJobsGetTheirShare(t *testing.T) {
	for _, name := range []string{"fair", "fairtree", "deficit", "decay", "drf", "load", "multifactor"} {
		for _, backfill := range []sched.Backfill{sched.EASY, sched.Conservative} {
			for _, limits := range []string{"none", "exact", "loose"} {
				for _, where := range sitesOf(backfill, limits) {
					for work, m := range mixes {
						t.Run(fmt.Sprintf("%s+%v/%s/limits %s/%v", name, backfill, work, limits, where), func(t *testing.T) {
							contestOf(t, name, backfill, where, m, limits, 7).decide(t, where)
						})
					}
				}
			}
		}
	}
}

// decide submits the wide jobs after a while, and fails if the last of them starts too late.
func (c *contest) decide(t *testing.T, where site) {
	t.Helper()
	c.run(epoch.Add(5 * time.Minute))
	began := c.now
	for range c.mix.jobs {
		limit := map[string]time.Duration{"exact": c.mix.wide, "loose": 24 * time.Hour}[c.limits]
		c.wide[c.add("wide", where.wide(), c.mix.wide, limit)] = true
	}
	c.run(began.Add(24 * time.Hour))
	due := 2 * time.Duration(c.mix.jobs) * c.mix.wide
	if len(c.starts) < c.mix.jobs {
		t.Fatalf("%d of %d wide jobs start", len(c.starts), c.mix.jobs)
	}
	if last := c.starts[c.mix.jobs-1] - began.Sub(epoch); last > due*3/2 {
		t.Errorf("the last wide job starts after %v; its share gives %v", last, due)
	}
}
