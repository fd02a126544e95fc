//go:build campaign

package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

var soakTime = flag.Duration("soak", time.Minute, "how long TestCampaignSoak lets servers join and leave")

// soak is a run of TestCampaignSoak.
type soak struct {
	*fleet
	store  *postgres.Store
	up     []bool
	comes  []presence
	kills  int
	leaves int
	joins  int

	submitting sync.WaitGroup
	stop       chan struct{}
	mu         sync.Mutex
	ids        []int64

	late stalls
}

// presence is a time in which a server and its agents were running.
type presence struct {
	site     int
	from, to time.Time // to is zero while they run
}

// soakRun is how long tasks run, and soakPause is the mean pause between two submissions of a tenant. Two
// servers have ten processors: four tenants use fewer than three.
const (
	soakRun   = 200 * time.Millisecond
	soakPause = 300 * time.Millisecond
)

// TestCampaignSoak lets servers with their agents join and leave one PostgreSQL every few seconds; half of the leaving
// ones are killed. Four tenants submit equal work. The remaining servers always have more capacity than the tenants ask
// for. So every job must start within a lease and a second after its submission, or after its server left, plus the
// time for the queue before it.
func TestCampaignSoak(t *testing.T) {
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat: -run=TestCampaignSoak -soak=%v -servers=%d -seed=%d", *soakTime, *chaosServers, seed)
	s := &soak{fleet: newFleet(t, *chaosServers, 3*time.Second, seed), stop: make(chan struct{})}
	s.begin()
	now := time.Now()
	for i := range s.sites {
		s.up = append(s.up, true)
		s.comes = append(s.comes, presence{site: i, from: now})
	}
	var err error
	if s.store, err = postgres.Open(t.Context(), s.database.URL(), postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.store.Close()
	s.submitting.Go(func() { s.late.watch(s.stop) })
	for i, name := range []string{"ann", "bob", "cyd", "dan"} {
		s.submitting.Go(func() { s.tenant(name, rand.New(rand.NewPCG(seed, uint64(i)+1))) })
	}
	for end := time.Now().Add(*soakTime); time.Now().Before(end); {
		s.change()
		time.Sleep(500*time.Millisecond + s.upTo(1500*time.Millisecond))
	}
	close(s.stop)
	s.submitting.Wait()
	if !await.Within(mostWait, func() bool { return len(s.ask(`SELECT id::text FROM fairlead.job LIMIT 1`)) == 0 }) {
		t.Errorf("not ended: %v", s.ask(`SELECT format('%s: %s wait, %s run', id, waiting, running) FROM fairlead.job LIMIT 20`))
	}
	s.recount()
	s.judge()
}

// tenant submits jobs until stop is closed.
func (s *soak) tenant(name string, rng *rand.Rand) {
	client := engine.NewClient(s.store, allocation.Default())
	for {
		select {
		case <-s.stop:
			return
		case <-time.After(time.Duration(rng.Int64N(int64(2 * soakPause)))):
		}
		ids, err := client.Submit(context.Background(), queue.Job{User: name, Name: name, Argv: []string{"sleep", fmt.Sprint(soakRun.Seconds())}})
		if err != nil {
			s.t.Errorf("%s could not submit: %v", name, err)
			return
		}
		s.mu.Lock()
		s.ids = append(s.ids, ids...)
		s.mu.Unlock()
	}
}

// change lets a server join or leave, so that at least two stay.
func (s *soak) change() {
	s.t.Helper()
	site, stay := s.rng.IntN(len(s.sites)), 0
	for _, up := range s.up {
		if up {
			stay++
		}
	}
	r := s.sites[site]
	switch {
	case !s.up[site]:
		s.joins++
		r.serve()
		for j, cpus := range processors {
			r.work(agentName(site, j), cpus)
		}
		s.comes = append(s.comes, presence{site: site, from: time.Now()})
	case stay <= 2:
		return
	default:
		s.leave(site)
	}
	s.up[site] = !s.up[site]
}

func (s *soak) leave(site int) {
	s.t.Helper()
	r, now := s.sites[site], time.Now()
	for i := range s.comes {
		if p := &s.comes[i]; p.site == site && p.to.IsZero() {
			p.to = now
		}
	}
	if s.rng.IntN(2) == 0 {
		s.kills++
		r.server.kill()
		for _, p := range r.agents {
			p.kill()
		}
		return
	}
	s.leaves++
	for _, p := range r.agents {
		r.stop(p)
	}
	r.stop(r.server)
}

// waiting is one wait of a task.
type waiting struct {
	job      int64
	attempt  int
	from, to time.Time
	why      string // why the wait began
	drain    time.Duration
	late     time.Duration // the largest delay of the machine itself meanwhile
}

func (w waiting) length() time.Duration { return w.to.Sub(w.from) }

// waits returns the waits of all jobs: from submission to the first attempt, and from the moment when the
// server of an attempt left to the next attempt.
func (s *soak) waits() (all []waiting) {
	s.t.Helper()
	jobs, err := s.store.Jobs(s.t.Context(), queue.Query{})
	if err != nil {
		s.t.Fatal(err)
	}
	if len(jobs) != len(s.ids) {
		s.t.Errorf("%d jobs were submitted, %d are there", len(s.ids), len(jobs))
	}
	for _, j := range jobs {
		if j.State != queue.Succeeded {
			s.t.Errorf("job %d is %s (%s)", j.ID, j.State, j.Cause)
		}
		from, why := j.Submitted, "submitted"
		for _, h := range s.seen.task(queue.Ref{JobID: j.ID}).handed {
			all = append(all, waiting{job: j.ID, attempt: h.attempt, from: from, to: h.at, why: why})
			from, why = h.at, fmt.Sprintf("attempt %d was on %s, which left", h.attempt, h.agent)
			for _, p := range s.comes {
				if strings.HasPrefix(h.agent, fmt.Sprintf("s%d-", p.site)) && !p.to.IsZero() && p.from.Before(h.at) && p.to.After(h.at) {
					from = p.to
				}
			}
		}
	}
	for i := range all {
		all[i].drain, all[i].late = s.drain(all, &all[i]), s.late.within(all[i].from, all[i].to)
	}
	return all
}

// drain returns how long the remaining servers take for the tasks that already waited when a task began to wait.
func (s *soak) drain(all []waiting, w *waiting) time.Duration {
	before := 0
	for _, o := range all {
		if !o.from.After(w.from) && o.to.After(w.from) && o.job != w.job {
			before++
		}
	}
	slots := 0
	for _, p := range s.comes {
		if !p.from.After(w.from) && (p.to.IsZero() || p.to.After(w.to)) {
			for _, cpus := range processors {
				slots += cpus
			}
		}
	}
	return time.Duration(before) * soakRun / time.Duration(max(1, slots))
}

// judge prints how long tasks waited, and fails for waits that nothing explains.
func (s *soak) judge() {
	s.t.Helper()
	all := s.waits()
	slices.SortFunc(all, func(a, b waiting) int { return int(a.length() - b.length()) })
	if len(all) < int(soakTime.Seconds())*leastRate {
		s.t.Fatalf("void: %d tasks started", len(all))
	}
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].length().Round(time.Millisecond) }
	again := 0
	for _, w := range all {
		if w.why != "submitted" {
			again++
		}
		// The machine may delay each of the few steps of a start by w.late.
		if most := s.lease + time.Second + w.drain + 4*w.late; w.length() > most {
			s.t.Errorf("nothing explains %s", s.text(w))
		}
	}
	fmt.Printf("figure: soak=%v joins=%d leaves=%d kills=%d jobs=%d starts=%d (again: %d) lease=%v wait p50=%v p90=%v p99=%v p99.9=%v max=%v counter-mismatch=%d\n",
		*soakTime, s.joins, s.leaves, s.kills, len(s.ids), len(all), again, s.lease, at(0.5), at(0.9), at(0.99), at(0.999), at(1), s.wrong)
	fmt.Println("longest:", s.text(all[len(all)-1]))
}

func (s *soak) text(w waiting) string {
	return fmt.Sprintf("job %d attempt %d waited %v (%s; queue before it %v, machine late by up to %v)", w.job, w.attempt,
		w.length().Round(time.Millisecond), w.why, w.drain.Round(time.Millisecond), w.late.Round(time.Millisecond))
}

// stalls records how late this machine resumes a process that sleeps until an instant.
type stalls struct {
	mu   sync.Mutex
	seen []struct {
		at time.Time
		by time.Duration
	}
}

func (l *stalls) watch(stop <-chan struct{}) {
	const every = 20 * time.Millisecond
	for {
		began := time.Now()
		select {
		case <-stop:
			return
		case <-time.After(every):
		}
		l.mu.Lock()
		l.seen = append(l.seen, struct {
			at time.Time
			by time.Duration
		}{time.Now(), time.Since(began) - every})
		l.mu.Unlock()
	}
}

// within returns the largest stall between two instants, or in the second after.
func (l *stalls) within(from, to time.Time) (most time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.seen {
		if s.at.After(from) && s.at.Before(to.Add(time.Second)) {
			most = max(most, s.by)
		}
	}
	return most
}
