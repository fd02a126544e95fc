package web_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// The size of a large site: faculties with institutes, with a pool for each person, and machines that all of
// them share.
const (
	siteFaculties  = 10
	siteInstitutes = 7  // per faculty
	sitePeople     = 70 // per institute
	siteNodes      = 1000
	siteWaiting    = 100_000
	siteArray      = 20_000 // tasks of an ended array
)

// site is the server of a large site. All of its machines are busy.
type site struct {
	*lab
	dice    *rand.Rand
	waiting int
	array   int64 // a job with many tasks

	mu      sync.Mutex
	members map[string]*engine.Member
	running []held
}

// held is an attempt that a node runs.
type held struct {
	ref  queue.Ref
	node string
}

// siteNode is a node of a site. It takes tasks; the site ends them.
type siteNode struct {
	*site
	name string
}

// Start implements engine.Worker.
func (n siteNode) Start(leases []*queue.Lease) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range leases {
		n.running = append(n.running, held{l.Ref, n.name})
	}
}

// Stop implements engine.Worker.
func (siteNode) Stop([]queue.Ref, string) {}

// institute returns the path of an institute; institutes are numbered across all faculties.
func institute(i int) string { return fmt.Sprintf("faculty%d/inst%02d", i%siteFaculties, i) }

// siteConfig returns a configuration that names every pool.
func siteConfig() string {
	var b strings.Builder
	b.WriteString("policy: fair\nhalf_life: 7d\nbackfill: easy\nlicenses: {matlab: 200}\npools:\n")
	for f := range siteFaculties {
		fmt.Fprintf(&b, "  faculty%d:\n    weight: %d\n    pools:\n", f, 10+f)
		for i := f; i < siteFaculties*siteInstitutes; i += siteFaculties {
			fmt.Fprintf(&b, "      inst%02d:\n        weight: %d\n        max: {cpu: 4000}\n        pools:\n", i, 1+i%5)
			for p := range sitePeople {
				fmt.Fprintf(&b, "          user%04d: {weight: %d}\n", i*sitePeople+p, 1+p%3)
			}
		}
	}
	return b.String()
}

// newSite starts a site.
func newSite(b *testing.B) *site {
	b.Helper()
	s := &site{lab: newLab(b, siteConfig()), dice: rand.New(rand.NewPCG(7, 7)), waiting: siteWaiting}
	s.join()
	s.runArray()
	s.submitTasks(siteWaiting + 5000)
	s.settled()
	if _, w := s.loop.Running(); w > siteWaiting {
		s.end(int(w) - siteWaiting)
	}
	s.remember()
	return s
}

// join adds all nodes, with the tasks that they run.
func (s *site) join() {
	s.t.Helper()
	capacity := must(engine.AgentCapacity(queue.Amounts{"cpu": 32, "mem": 128 << 30}))
	runs := map[string][]queue.Ref{}
	for _, h := range s.running {
		runs[h.node] = append(runs[h.node], h.ref)
	}
	s.members = map[string]*engine.Member{}
	for i := range siteNodes {
		name := fmt.Sprintf("n%04d", i)
		info := engine.NodeInfo{Labels: map[string]string{"rack": fmt.Sprint("r", i/40), "cpu": []string{"old", "new"}[i%2]}}
		m, err := s.loop.Join(s.t.Context(), name, capacity, info, siteNode{s, name}, runs[name])
		if err != nil {
			s.t.Fatal(err)
		}
		s.members[name] = m
	}
}

// runArray runs a job of many tasks to its end.
func (s *site) runArray() {
	s.t.Helper()
	j := s.job()
	j.Array, j.Priority, j.Licenses, j.Request = fmt.Sprintf("0-%d", siteArray-1), "", nil, queue.Amounts{"cpu": 1,
		"mem": 1 << 30}
	subs, err := s.loop.Intake.Submit(s.t.Context(), []queue.Job{j})
	if err != nil || subs[0].Err != nil {
		s.t.Fatal(err, subs)
	}
	s.array = subs[0].ID
	for ended := 0; ended < siteArray; {
		s.mu.Lock()
		results := map[string][]queue.Result{}
		for _, h := range s.running {
			results[h.node] = append(results[h.node], queue.Result{Ref: h.ref, Outcome: queue.Outcome{State: queue.Succeeded}})
		}
		s.running = nil
		s.mu.Unlock()
		for node, all := range results {
			if _, err := s.members[node].Finish(s.t.Context(), all); err != nil {
				s.t.Fatal(err)
			}
			ended += len(all)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// again restarts the server on the same store.
func (s *site) again() {
	s.client.Close()
	s.stop()
	s.begin()
	s.join()
	s.settled()
}

// job returns a job of a typical user: each user has two kinds of jobs, and mostly asks for the same resources.
func (s *site) job() queue.Job {
	user := s.dice.IntN(siteFaculties * siteInstitutes * sitePeople)
	sort := user + s.dice.IntN(2)
	j := queue.Job{
		User: fmt.Sprintf("user%04d", user), Pool: fmt.Sprintf("%s/user%04d", institute(user/sitePeople),
			user), Name: fmt.Sprint("run", s.dice.IntN(1000)), Kind: []string{"mpi", "r", "sim"}[s.dice.IntN(3)],
		Argv: []string{"true"}, Limit: time.Duration(1+sort%12) * time.Hour,
		Request: queue.Amounts{"cpu": []int64{1, 4, 8, 8, 16}[sort%5], "mem": []int64{2 << 30, 8 << 30, 24 << 30}[user%3]},
	}
	switch s.dice.IntN(20) {
	case 0, 1:
		j.Priority = "high"
	case 2:
		j.Priority = "low"
	case 3:
		j.Licenses = queue.Amounts{"matlab": 1}
	}
	return j
}

func (s *site) submitTasks(n int) {
	s.t.Helper()
	for n > 0 {
		jobs := make([]queue.Job, min(n, 10_000))
		for i := range jobs {
			jobs[i] = s.job()
		}
		if _, err := s.loop.Intake.Submit(s.t.Context(), jobs); err != nil {
			s.t.Fatal(err)
		}
		n -= len(jobs)
	}
}

// settled waits until nothing more starts.
func (s *site) settled() {
	s.t.Helper()
	before, calm := int64(-1), 0
	s.wait("all machines are busy", func() bool {
		running, waiting := s.loop.Running()
		if calm++; running != before || running == 0 || waiting == 0 {
			before, calm = running, 0
		}
		return calm > 20
	})
}

// end ends n running tasks.
func (s *site) end(n int) {
	s.t.Helper()
	for range n {
		s.mu.Lock()
		if len(s.running) == 0 {
			s.mu.Unlock()
			return
		}
		i, last := s.dice.IntN(len(s.running)), len(s.running)-1
		h := s.running[i]
		s.running[i] = s.running[last]
		s.running = s.running[:last]
		s.mu.Unlock()
		if _, err := s.members[h.node].Finish(s.t.Context(),
			[]queue.Result{{Ref: h.ref, Outcome: queue.Outcome{State: queue.Succeeded}}}); err != nil && s.ctx.Err() == nil {
			s.t.Error(err)
		}
	}
}

// busy ends "rate" tasks per second and submits the same number of jobs, until the returned function is called.
func (s *site) busy(rate int) (calm func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	const beats = 20 // per second
	var done sync.WaitGroup
	done.Go(func() {
		beat := time.NewTicker(time.Second / beats)
		defer beat.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-beat.C:
				s.submitTasks(rate / beats)
				s.end(rate / beats)
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// remember gives the store the history of a day: at all levels for faculties and institutes, and only at the coarse
// levels for the pools of people.
func (s *site) remember() {
	s.t.Helper()
	pools := []string{"", sitePool}
	for i := range siteFaculties * siteInstitutes {
		pools = append(pools, institute(i))
		if i < siteFaculties {
			pools = append(pools, fmt.Sprint("faculty", i))
		}
	}
	now := time.Now()
	for _, pool := range pools {
		s.past(pool, 0, now)
	}
	for i := range siteFaculties * siteInstitutes * sitePeople {
		s.past(fmt.Sprintf("%s/user%04d", institute(i/sitePeople), i), 1, now)
	}
}

// past adds a day of a pool, in the steps of this level and of the longer ones.
func (s *site) past(pool string, level int, now time.Time) {
	s.t.Helper()
	var all []queue.PoolHistory
	for ; level < len(queue.HistoryLevels); level++ {
		p, step := queue.PoolHistory{Pool: pool, Level: level}, queue.HistoryLevels[level].Step
		for at := now.Add(-24 * time.Hour).Truncate(step); at.Before(now.Add(-10 * time.Minute)); at = at.Add(step) {
			known := step.Seconds()
			p.Steps = append(p.Steps, queue.HistoryStep{
				At: at, Seconds: known, Share: 0.1 * known, Used: known * s.dice.Float64(), FairNow: 40 * known * s.dice.Float64(),
				Running: 50 * known * s.dice.Float64(), Demand: 90 * known, Waiting: 30 * known * s.dice.Float64(), OldestWait: 3600 * s.dice.Float64(),
			})
		}
		all = append(all, p)
	}
	if err := s.store.AddHistory(s.t.Context(), all); err != nil {
		s.t.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
