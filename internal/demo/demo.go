// Package demo is the example of `fairlead demo`: one user floods the queue, and two others ask for little.
// It describes the work, simulates it in virtual time with the scheduler itself, and sums up the results of
// each user.
package demo

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// Ask is the request of one user.
type Ask struct {
	User string
	Jobs int
}

// Asks lists the requests, in this order, at nearly the same time.
var Asks = []Ask{{"alice", 2000}, {"bob", 20}, {"carol", 20}}

// Slots is the number of jobs that run at the same time.
const Slots = 16

// Head is the time for which the first user is alone, until it has all slots.
const Head = 500 * time.Millisecond

// Length returns the run time of the i-th job: from 100 to 300 ms.
func Length(i int) time.Duration {
	rng := rand.New(rand.NewPCG(uint64(i), 7))
	return 100*time.Millisecond + time.Duration(rng.Int64N(int64(200*time.Millisecond)))
}

// Run is one job that ran, or still waits (then it has no start).
type Run struct {
	Job                   int64 // its number, which is the same in all phases
	User                  string
	Submitted, Start, End time.Time
}

// Config returns the configuration of a phase.
func Config(policy string) (*config.Config, error) {
	return config.Parse("demo", []byte("policy: "+policy+"\ntask_time: 200ms\n"))
}

// UserSummary holds the results of one user.
type UserSummary struct {
	User string        `json:"user"`
	Jobs int           `json:"jobs"` // the jobs that started
	Last time.Duration `json:"last"` // the longest wait of a started job
	Got  float64       `json:"got"`  // fraction of the shared service while all had work
}

// Summary holds the results of a phase.
type Summary struct {
	Policy string        `json:"policy"`
	Users  []UserSummary `json:"users"`
	Jain   float64       `json:"jain"` // Jain's index of Got
}

// Summarise sums up the jobs of a phase. It measures Got from the moment at which all users have asked to the
// moment at which the first of them has no waiting jobs left.
func Summarise(policy string, runs []Run, until time.Time) Summary {
	from, to := time.Time{}, until
	for _, a := range Asks {
		last, first := time.Time{}, time.Time{}
		waiting := false
		for _, r := range runs {
			if r.User != a.User {
				continue
			}
			if first.IsZero() || r.Submitted.Before(first) {
				first = r.Submitted
			}
			if r.Start.IsZero() {
				waiting = true
			} else if r.Start.After(last) {
				last = r.Start
			}
		}
		if first.After(from) {
			from = first
		}
		if !waiting && last.Before(to) {
			to = last
		}
	}
	s := Summary{Policy: policy}
	total := 0.0
	for _, a := range Asks {
		u := summariseUser(a.User, runs, from, to)
		total += u.Got
		s.Users = append(s.Users, u)
	}
	got, equal := make([]float64, len(s.Users)), make([]float64, len(s.Users))
	for i := range s.Users {
		if total > 0 {
			s.Users[i].Got /= total
		}
		got[i], equal[i] = s.Users[i].Got, 1
	}
	s.Jain = usage.Jain(got, equal)
	return s
}

func summariseUser(user string, runs []Run, from, to time.Time) UserSummary {
	u := UserSummary{User: user}
	for _, r := range runs {
		if r.User != user || r.Start.IsZero() {
			continue
		}
		u.Jobs++
		u.Last = max(u.Last, r.Start.Sub(r.Submitted))
		begin, end := r.Start, r.End
		if begin.Before(from) {
			begin = from
		}
		if end.IsZero() || end.After(to) {
			end = to
		}
		if end.After(begin) {
			u.Got += end.Sub(begin).Seconds()
		}
	}
	return u
}

// Simulated is a phase in virtual time.
type Simulated struct {
	Summary Summary
	Runs    []Run
	// Versus compares the second user's first waiting job with the first user's, at the moment when all users
	// have asked.
	Versus *why.Comparison
	Units  why.Units
}

// Simulate runs a phase in virtual time, until all jobs of the users who ask for little have ended.
func Simulate(policy string) (*Simulated, error) {
	zero := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	cfg, err := Config(policy)
	if err != nil {
		return nil, err
	}
	core, err := sched.New(cfg.Shares.Sched, zero, 1)
	if err != nil {
		return nil, err
	}
	core.Join("demo", cluster.Amounts{"cpu": Slots}, zero)
	s := &simulation{core: core, runs: []Run{}}
	out := &Simulated{}
	s.now = zero
	for i, a := range Asks {
		if i == 1 {
			s.until(zero.Add(Head))
		}
		s.submit(a)
		s.step()
	}
	out.compare(core)
	for s.left > 0 {
		s.finish(heap.Pop(&s.ends).(end))
		s.step()
	}
	out.Summary, out.Runs = Summarise(policy, s.runs, s.now), s.runs
	return out, nil
}

// compare records which user goes first when all have asked.
func (o *Simulated) compare(core *sched.Scheduler) {
	a, b := core.Pool(Asks[1].User), core.Pool(Asks[0].User)
	level, parts := core.Explain().Parting(a, b)
	if !parts {
		return
	}
	o.Units = why.Units{
		Unit: core.Cluster().Unit(), Growth: core.Read().Now().Growth, Reference: core.Read().Clock().Reference(),
		HalfLifeSeconds: core.Read().Clock().HalfLife().Seconds(),
	}
	o.Versus = &why.Comparison{
		Version: why.Version, A: fmt.Sprintf("%s's first job", Asks[1].User), B: fmt.Sprintf("%s's next job", Asks[0].User),
		PoolA: Asks[1].User, PoolB: Asks[0].User,
	}
	o.Versus.Decide(level)
}

// simulation drives the core with a heap of ends.
type simulation struct {
	core *sched.Scheduler
	now  time.Time
	runs []Run // by job
	left int   // jobs of the users who ask for little that have not ended
	ends ends
	d    sched.Decision
}

type end struct {
	at  time.Time
	job int
	run sched.RunID
}

type ends []end

func (e ends) Len() int { return len(e) }
func (e ends) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].job < e[j].job
}
func (e ends) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)   { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

func (s *simulation) submit(a Ask) {
	if a.User != Asks[0].User {
		s.left += a.Jobs
	}
	for range a.Jobs {
		s.runs = append(s.runs, Run{Job: int64(len(s.runs) + 1), User: a.User, Submitted: s.now})
		s.core.Add(
			sched.Job{ID: int64(len(s.runs)), Pool: s.core.Pool(a.User), Key: s.core.Key(nil), Priority: 2, Tasks: 1}, s.now)
	}
}

// until handles all ends before t.
func (s *simulation) until(t time.Time) {
	for len(s.ends) > 0 && s.ends[0].at.Before(t) {
		s.finish(heap.Pop(&s.ends).(end))
		s.step()
	}
	s.now = t
}

func (s *simulation) finish(e end) {
	s.now = e.at
	s.runs[e.job].End = e.at
	if s.runs[e.job].User != Asks[0].User {
		s.left--
	}
	s.core.Finish(e.run, e.at, true)
}

func (s *simulation) step() {
	for more := true; more; more = s.d.More {
		s.core.Step(s.now, 0, &s.d)
		for _, st := range s.d.Starts {
			job := int(st.Job - 1)
			s.runs[job].Start = s.now
			heap.Push(&s.ends, end{s.now.Add(Length(job)), job, st.Run})
		}
	}
}
