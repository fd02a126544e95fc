//go:build real

package main

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// tally is the summary of a run, in the manner of Jepsen's total-queue.
type tally struct {
	faults map[string]int // by kind

	submitted  int // keys that were sent
	acked      int // of these, keys with a returned id
	ok         int // of these, jobs that ended in the right state
	aside      int // of these, jobs set aside because their agents were lost too often
	lost       int // acknowledged jobs that are missing or have not ended
	unexpected int // jobs whose key nobody sent
	duplicates int // runs of tasks beyond the first run and the runs after failures
	explained  int // of these, new attempts after a lease was lost or given back
	twice      int // tasks with two accepted completions, keys with two ids, ids with two keys
	holders    int // attempts that were valid while a later one was
	stale      int // writes of attempts that were over
	refused    int // of these, refused writes
	counters   int // counters that differ from a recount
}

func (r tally) String() string {
	n := 0
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.faults)) {
		n += r.faults[kind]
		kinds = append(kinds, fmt.Sprintf("%s=%d", kind, r.faults[kind]))
	}
	return fmt.Sprintf("faults=%d (%s) submitted=%d acked=%d ok=%d set-aside=%d lost=%d unexpected=%d "+
		"duplicate-runs=%d (explained: %d) double-completed=%d two-valid-holders=%d stale-refused=%d of %d counter-mismatch=%d",
		n, strings.Join(kinds, " "), r.submitted, r.acked, r.ok, r.aside, r.lost, r.unexpected,
		r.duplicates, r.explained, r.twice, r.holders, r.refused, r.stale, r.counters)
}

// auditedStore is a store that an audit can read.
type auditedStore interface {
	queue.Store
	queue.Accountant
}

// audit combines the final knowledge of the clients, of the witness, of the tasks themselves, and of the
// database.
type audit struct {
	tally
	t      testing.TB
	record *record
	seen   *witness
	store  auditedStore
	jobs   map[int64]*queue.Job
	tries  map[ledgerTask][]int // attempts that began, by the ledger
	ended  map[ledgerTask][]int // attempts that ended, by the ledger
}

type ledgerTask struct {
	job    int64
	number int
}

// newAudit begins an audit with the records of clients and wires.
func newAudit(t testing.TB, l *load, seen *witness) *audit {
	a := &audit{t: t, record: l.record, seen: seen, jobs: map[int64]*queue.Job{}}
	a.submitted, a.acked = len(l.record.sent), len(l.record.ids)
	a.twice, a.holders = l.record.duplicates+l.record.reused+seen.completed, seen.twoHolders
	a.stale, a.refused = seen.stale, seen.refused
	return a
}

// read reads the ledger and the database. No task runs any more.
func (a *audit) read(store auditedStore, l ledger) {
	a.t.Helper()
	a.tries, a.ended = map[ledgerTask][]int{}, map[ledgerTask][]int{}
	for _, e := range l.read(a.t) {
		k := ledgerTask{e.job, e.number}
		if e.what == "b" {
			a.tries[k] = append(a.tries[k], e.try)
		} else {
			a.ended[k] = append(a.ended[k], e.try)
		}
	}
	a.store = store
	a.readJobs()
	a.counters += checkCounters(a.t, store, queue.Query{})
}

// judge fails the test for every broken promise.
func (a *audit) judge() {
	for _, text := range a.seen.wrong {
		a.t.Error(text)
	}
	if a.refused != a.stale {
		a.t.Errorf("of %d writes of attempts that were over %d were accepted", a.stale, a.stale-a.refused)
	}
	if a.lost+a.unexpected+a.twice+a.holders+a.counters != 0 || a.explained != a.duplicates {
		a.t.Error("a promise was broken")
	}
	if n := a.acked - a.ok - a.aside; n != 0 {
		a.t.Errorf("%d jobs did not end as they had to", n)
	}
	if a.acked != a.submitted {
		a.t.Errorf("%d jobs were never acknowledged", a.submitted-a.acked)
	}
}

// askServer checks the server's counts when nothing waits or runs any more, and returns the usage of each pool from the
// server's account.
func (a *audit) askServer(c *api.Client) map[string]float64 {
	a.t.Helper()
	ctx := a.t.Context()
	found, err1 := c.Doctor(ctx, false)
	nodes, err2 := c.Nodes.List(ctx)
	shares, err3 := c.Pools.Shares(ctx, "")
	if err1 != nil || err2 != nil || err3 != nil {
		a.t.Fatal(err1, err2, err3)
	}
	for _, check := range found.Checks {
		if check.Name == "counters" && check.Result != api.ResultOK {
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

// readJobs compares the jobs in the database with the records of the clients.
func (a *audit) readJobs() {
	jobs, err := a.store.Jobs(a.t.Context(), queue.Query{})
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

// checkJob reports whether a job and its tasks ended in the right state.
func (a *audit) checkJob(j *queue.Job, o *order) bool {
	tasks, err := a.store.Tasks(a.t.Context(), j.ID)
	if err != nil {
		a.t.Fatal(err)
	}
	if setAside(tasks) {
		a.aside++
		return false
	}
	if j.State != o.want {
		a.t.Errorf("job %d (%s) ended as %s because %q, want %s; tasks %+v", j.ID, j.Key, j.State, j.Cause, o.want, tasks)
		return false
	}
	good, all := true, 0
	for i := range tasks {
		all += a.reruns(&tasks[i])
	}
	for i := range tasks {
		explained := all // all tasks of a gang rerun together
		if j.Gang < 2 {
			explained = a.reruns(&tasks[i])
		}
		good = a.checkRuns(j, &tasks[i], o, explained) && good
	}
	return good
}

// setAside reports whether a task of a job failed because its agents were lost too often; with constant kills
// of agents this happens to a few.
func setAside(tasks []queue.Task) bool {
	return slices.ContainsFunc(tasks, func(k queue.Task) bool {
		return k.State == queue.Failed && k.Losses > 0 && k.Outcome.Cause == fmt.Sprintf("its agents were lost, or could not begin it, %d times", k.Losses)
	})
}

// reruns returns how often a task may have rerun without a failure.
func (a *audit) reruns(k *queue.Task) int { return k.Losses + a.seen.givenBack(k.Job, k.Index) }

// checkRuns compares a task with its lines in the ledger. The task may have rerun "reruns" times without a failure.
func (a *audit) checkRuns(j *queue.Job, k *queue.Task, o *order, reruns int) bool {
	name := ledgerTask{j.ID, k.Number}
	tries, good := a.tries[name], true
	if k.State == queue.Succeeded && o.noted && (!slices.Contains(tries, k.Attempt) || !slices.Contains(a.ended[name], k.Attempt)) {
		a.t.Errorf("task %v succeeded at attempt %d; those that began were %v, and came to their end %v", name, k.Attempt, tries, a.ended[name])
		good = false
	}
	asked := k.Fails // runs after a failure
	if k.State == queue.Failed {
		asked--
	}
	extra := len(tries) - 1 - asked
	if extra <= 0 {
		return good
	}
	a.duplicates += extra
	distinct := len(slices.Compact(slices.Sorted(slices.Values(tries)))) == len(tries)
	if distinct && slices.Max(tries) <= k.Attempt && extra <= reruns {
		a.explained += extra
	} else {
		a.t.Errorf("task %v ran in the attempts %v, and nothing explains that: %+v", name, tries, k)
	}
	return good
}

// checkServed recounts the service of the pools from the jobs: each attempt that ended was charged once, for its
// length.
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
			if n > 0 { // earlier attempts lie between the job's start and the last attempt
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
		// The loop keeps a sum since its start, by its own clock: each attempt is longer there by the time of writing
		// its begin and its end.
		const writing = 0.05
		if diff := math.Abs(served[pool] - got.Used); diff > 0.05*got.Used+writing*float64(got.Ended)+0.1 {
			a.mismatch("pool %s: the server says %v used, its database %v", pool, served[pool], got.Used)
		}
	}
}

// charged returns how many attempts of a task were charged to its pool, and whether the last attempt is one of them.
// Attempts that were given back are not charged; their task ended as cancelled without a cause.
func charged(k *queue.Task) (n int64, last bool) {
	n = int64(k.Losses + k.Fails)
	switch k.Outcome.State {
	case queue.Succeeded:
		return n + 1, true
	case queue.Failed:
		return n, true
	case queue.Cancelled:
		if k.Outcome.Cause != "" && k.Outcome.Cause != lostCause {
			return n + 1, true
		}
	}
	return n, false
}

// lostCause is the cause of a cancelled task whose agent was then lost; the loss is already counted.
const lostCause = "cancelled; its agent was lost"

// open returns the query for jobs that have not ended.
func open() url.Values {
	return url.Values{"state": {"held", "blocked", "waiting", "queued", "running"}, "limit": {"100"}}
}
