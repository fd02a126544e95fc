//go:build chaos

package main

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/store/sqlite"
)

// tally is the line at the end of a run, in the manner of Jepsen's total-queue.
type tally struct {
	kills, cutRequests, cutAnswers int

	submitted  int // keys that were sent
	acked      int // of these, those whose id came back
	ok         int // of these, those that ended as they had to
	lost       int // acknowledged and not there, or not ended
	unexpected int // jobs whose key nobody sent
	duplicates int // runs of tasks beyond the first and those after a failure
	explained  int // of these, those after a lease that was lost, as a new attempt
	twice      int // tasks with two accepted completions, keys with two ids, ids with two keys
	holders    int // attempts that were valid while a later one was
	counters   int // counters that differ from a recount
}

func (r tally) String() string {
	return fmt.Sprintf("faults=%d (sigkill-server=%d cut-request=%d cut-answer=%d) submitted=%d acked=%d ok=%d lost=%d unexpected=%d "+
		"duplicate-runs=%d (explained: %d) double-completed=%d two-valid-holders=%d counter-mismatch=%d",
		r.kills+r.cutRequests+r.cutAnswers, r.kills, r.cutRequests, r.cutAnswers, r.submitted, r.acked, r.ok, r.lost, r.unexpected,
		r.duplicates, r.explained, r.twice, r.holders, r.counters)
}

// audit is what is known at the end: by the clients, by the wire, by the tasks
// themselves, and by the database.
type audit struct {
	tally
	t      *testing.T
	record *record
	wire   *wire
	store  *sqlite.Store
	jobs   map[int64]*fairlead.Job
	tries  map[ledgerTask][]int // attempts that began, by the ledger
	ended  map[ledgerTask][]int // and came to their end
}

type ledgerTask struct {
	job    int64
	number int
}

// audit asks the server what it counts, ends it, and goes through its database.
func (c *chaos) audit() *audit {
	c.t.Helper()
	a := &audit{t: c.t, record: c.load.record, wire: c.wire, jobs: map[int64]*fairlead.Job{}}
	a.kills, a.cutRequests, a.cutAnswers = c.kills, c.wire.cutRequests, c.wire.cutAnswers
	a.submitted, a.acked, a.counters = len(c.load.record.sent), len(c.load.record.ids), c.wrong
	a.twice, a.holders = c.load.record.duplicates+c.load.record.reused+c.wire.completed, c.wire.twoHolders
	served := a.askServer(c.direct)
	for _, p := range c.agents {
		c.stop(p)
	}
	c.stop(c.server)
	a.tries, a.ended = map[ledgerTask][]int{}, map[ledgerTask][]int{}
	for _, e := range c.ledger().read(c.t) {
		k := ledgerTask{e.job, e.number}
		if e.what == "b" {
			a.tries[k] = append(a.tries[k], e.try)
		} else {
			a.ended[k] = append(a.ended[k], e.try)
		}
	}
	var err error
	if a.store, err = sqlite.Open(c.t.Context(), c.db, sqlite.Options{}); err != nil {
		c.t.Fatal(err)
	}
	defer a.store.Close()
	a.readJobs()
	a.counters += checkCounters(c.t, a.store, fairlead.Query{})
	a.checkServed(served)
	return a
}

// judge fails the test for what must not be.
func (a *audit) judge() {
	for _, text := range a.wire.wrong {
		a.t.Error(text)
	}
	if a.lost+a.unexpected+a.twice+a.holders+a.counters != 0 || a.explained != a.duplicates {
		a.t.Error("a promise was broken")
	}
	if a.ok != a.acked {
		a.t.Errorf("%d jobs did not end as they had to", a.acked-a.ok)
	}
	if a.acked != a.submitted {
		a.t.Errorf("%d jobs were never acknowledged", a.submitted-a.acked)
	}
}

// askServer compares what the server counts when nothing waits or runs any more, and
// returns what it believes that each pool has received.
func (a *audit) askServer(c *api.Client) map[string]float64 {
	a.t.Helper()
	ctx := a.t.Context()
	status, err1 := c.Status(ctx)
	nodes, err2 := c.Nodes(ctx)
	shares, err3 := c.Shares(ctx, "")
	if err1 != nil || err2 != nil || err3 != nil {
		a.t.Fatal(err1, err2, err3)
	}
	for _, check := range status.Checks {
		if check.Name == "counters" && !check.OK {
			a.mismatch("the server's own check: %s", check.Text)
		}
	}
	for _, n := range nodes.Nodes {
		for resource, all := range n.Capacity {
			if n.Free[resource] != all || n.Tasks != 0 {
				a.mismatch("nothing runs, and node %s has %d of %d %s free and %d tasks", n.Name, n.Free[resource], all, resource, n.Tasks)
			}
		}
	}
	served := map[string]float64{}
	for _, p := range shares.Pools {
		if p.Tasks != 0 || p.Waiting != 0 || p.Running != 0 {
			a.mismatch("nothing waits or runs, and pool %q has %d waiting, %d running", p.Path, p.Waiting, p.Tasks)
		}
		served[p.Path] = p.Used
	}
	return served
}

func (a *audit) mismatch(format string, args ...any) {
	a.t.Helper()
	a.counters++
	a.t.Errorf(format, args...)
}

// readJobs compares the jobs in the database with those that the clients know.
func (a *audit) readJobs() {
	jobs, err := a.store.Jobs(a.t.Context(), fairlead.Query{})
	if err != nil {
		a.t.Fatal(err)
	}
	byKey := map[string]int64{}
	for _, j := range jobs {
		a.jobs[j.ID] = j
		if _, sent := a.record.sent[j.Key]; !sent {
			a.unexpected++
			a.t.Errorf("job %d has the key %q, which nobody sent", j.ID, j.Key)
		}
		if other, ok := byKey[j.Key]; ok {
			a.twice++
			a.t.Errorf("jobs %d and %d have the key %s", other, j.ID, j.Key)
		}
		byKey[j.Key] = j.ID
	}
	for key, id := range a.record.ids {
		j := a.jobs[id]
		if j == nil || j.Key != key || !j.State.Ended() {
			a.lost++
			a.t.Errorf("job %d of key %s was acknowledged; in the database is %+v", id, key, j)
			continue
		}
		if a.checkJob(j, a.record.sent[key]) {
			a.ok++
		}
	}
}

// checkJob reports whether a job ended as it had to, and so did its tasks.
func (a *audit) checkJob(j *fairlead.Job, o *order) bool {
	tasks, err := a.store.Tasks(a.t.Context(), j.ID)
	if err != nil {
		a.t.Fatal(err)
	}
	if j.State != o.want {
		a.t.Errorf("job %d (%s) ended as %s because %q, want %s; tasks %+v", j.ID, j.Key, j.State, j.Cause, o.want, tasks)
		return false
	}
	good := true
	for i := range tasks {
		good = a.checkRuns(j, &tasks[i], o) && good
	}
	return good
}

// checkRuns compares a task with what it wrote to the ledger itself.
func (a *audit) checkRuns(j *fairlead.Job, k *fairlead.Task, o *order) bool {
	name := ledgerTask{j.ID, k.Number}
	tries, good := a.tries[name], true
	if k.State == fairlead.Succeeded && o.noted && (!slices.Contains(tries, k.Attempt) || !slices.Contains(a.ended[name], k.Attempt)) {
		a.t.Errorf("task %v succeeded at attempt %d; those that began were %v, and came to their end %v", name, k.Attempt, tries, a.ended[name])
		good = false
	}
	asked := k.Fails // runs after a failure
	if k.State == fairlead.Failed {
		asked--
	}
	extra := len(tries) - 1 - asked
	if extra <= 0 {
		return good
	}
	a.duplicates += extra
	distinct := len(slices.Compact(slices.Sorted(slices.Values(tries)))) == len(tries)
	if distinct && slices.Max(tries) <= k.Attempt && extra <= k.Losses {
		a.explained += extra
	} else {
		a.t.Errorf("task %v ran in the attempts %v, and nothing explains that: %+v", name, tries, k)
	}
	return good
}

// checkServed recounts what the pools received, as far as the jobs still say it: each
// attempt that ended was charged once, and for its length.
func (a *audit) checkServed(served map[string]float64) {
	a.t.Helper()
	usage, err := a.store.Usage(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	type sum struct {
		ended       int64
		least, most float64
	}
	sums := map[string]*sum{}
	for _, j := range a.jobs {
		s := sums[j.Pool]
		if s == nil {
			s = &sum{}
			sums[j.Pool] = s
		}
		tasks, err := a.store.Tasks(a.t.Context(), j.ID)
		if err != nil {
			a.t.Fatal(err)
		}
		for i := range tasks {
			n, last := charged(&tasks[i])
			s.ended += n
			if last {
				s.least += tasks[i].Ended.Sub(tasks[i].Started).Seconds()
			}
			if n > 0 { // earlier attempts lay between the job's start and the last one
				s.most += tasks[i].Ended.Sub(j.Started).Seconds()
			}
		}
	}
	for pool, s := range sums {
		got := usage.Pools[pool]
		if got.Ended != s.ended {
			a.mismatch("pool %s was charged for %d attempts; its tasks had %d", pool, got.Ended, s.ended)
		}
		const rounding = 1e-6
		if got.Total < s.least-rounding || got.Total > s.most+rounding {
			a.mismatch("pool %s was charged %v slot-seconds; its tasks had from %v to %v", pool, got.Total, s.least, s.most)
		}
		// The loop adds up by itself since it started, and by its own clock: each attempt is
		// longer by what it took to write its begin and its end.
		const writing = 0.05
		if diff := math.Abs(served[pool] - got.Used); diff > 0.05*got.Used+writing*float64(got.Ended)+0.1 {
			a.mismatch("pool %s: the server says %v used, its database %v", pool, served[pool], got.Used)
		}
	}
}

// charged is for how many attempts of a task its pool was charged, and whether the last
// attempt is among them. Attempts that were given back are not charged: what says so is
// that a task ended as cancelled without a word about how.
func charged(k *fairlead.Task) (n int64, last bool) {
	n = int64(k.Losses + k.Fails)
	switch k.Outcome.State {
	case fairlead.Succeeded:
		return n + 1, true
	case fairlead.Failed:
		return n, true
	case fairlead.Cancelled:
		if k.Outcome.Cause != "" && k.Outcome.Cause != lostCause {
			return n + 1, true
		}
	}
	return n, false
}

// lostCause is how the end of a task is described that was cancelled and whose agent
// then was lost; its loss has been counted.
const lostCause = "cancelled; its agent was lost"

// open is the query for jobs that have not ended.
func open() url.Values {
	return url.Values{"state": {"held", "blocked", "waiting", "running"}, "limit": {"100"}}
}
