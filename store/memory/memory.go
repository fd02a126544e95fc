// Package memory is a store that forgets everything when the program ends: for
// tests, for examples, and as the reference that the other stores are compared with.
package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/store/internal/past"
	"github.com/fairlead/fairlead/usage"
)

// Store implements fairlead.Store in memory.
type Store struct {
	mu         sync.Mutex
	unit       string
	last       int64
	jobs       map[int64]*job
	keys       map[userKey]int64
	dependents map[int64][]int64
	clock      usage.Clock
	accounts   map[string]*fairlead.Account // amounts in the clock's units
	dayCount   int                          // how many days are kept
	days       map[string]map[int64]float64 // by pool and day
	feed       life.Feed
	rates      map[string]sched.RateState
	holds      map[fairlead.Ref][]sched.Held // of attempts that run
	held       map[string]int64              // the sums of these
	events     map[int64][]fairlead.Event
	settings   map[string]string
	audit      []fairlead.AuditEntry
	history    map[past.Key][]byte
	stops      []fairlead.Stopped
	closed     bool
}

type userKey struct{ user, key string }

// job is a job with its tasks that have started at least once.
type job struct {
	fairlead.Job
	tasks    map[int]*fairlead.Task
	next     int   // index of the first task that never started
	returned []int // tasks that wait again, sorted
}

var (
	_ fairlead.Store      = (*Store)(nil)
	_ fairlead.Notifier   = (*Store)(nil)
	_ fairlead.Accountant = (*Store)(nil)
	_ fairlead.Journal    = (*Store)(nil)
	_ fairlead.Settings   = (*Store)(nil)
	_ fairlead.Auditor    = (*Store)(nil)
	_ fairlead.RateKeeper = (*Store)(nil)
	_ fairlead.Sharer     = (*Store)(nil)

	_ fairlead.HistoryKeeper = (*Store)(nil)
)

// New returns an empty store. Tasks are charged by what they request of unit.
func New(unit string) *Store {
	return &Store{
		unit: unit, jobs: map[int64]*job{}, keys: map[userKey]int64{}, dependents: map[int64][]int64{},
		clock: usage.NewClock(time.Now(), 0), accounts: map[string]*fairlead.Account{},
		rates: map[string]sched.RateState{}, holds: map[fairlead.Ref][]sched.Held{}, held: map[string]int64{},
		events: map[int64][]fairlead.Event{}, settings: map[string]string{},
	}
}

// Close implements fairlead.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// lock begins an operation; the caller unlocks if there is no error.
func (s *Store) lock(ctx context.Context) (now time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return now, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return now, fairlead.ErrClosed
	}
	return time.Now(), nil
}

// Submit implements fairlead.Store.
func (s *Store) Submit(ctx context.Context, jobs []*fairlead.Job) ([]fairlead.Submission, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]fairlead.Submission, len(jobs))
	for i, j := range jobs {
		out[i] = s.submit(j, now)
	}
	return out, nil
}

func (s *Store) submit(in *fairlead.Job, now time.Time) fairlead.Submission {
	c := *in
	if err := c.Check(); err != nil {
		return fairlead.Submission{Err: err}
	}
	if id, ok := s.keys[userKey{c.User, c.Key}]; ok && c.Key != "" && !(c.KeyUntilEnd && s.jobs[id].State.Ended()) {
		return fairlead.Submission{ID: id, Existing: true}
	}
	var waitsFor []int64
	for _, d := range c.After {
		state := fairlead.State("")
		if on, ok := s.jobs[d.Job]; ok {
			state = on.State
		}
		wait, err := d.Wait(state)
		if err != nil {
			return fairlead.Submission{Err: err}
		}
		if wait {
			waitsFor = append(waitsFor, d.Job)
		}
	}
	s.last++
	life.Admit(&c, s.last, len(waitsFor), now)
	j := &job{Job: c, tasks: map[int]*fairlead.Task{}}
	s.jobs[c.ID] = j
	if c.Key != "" {
		s.keys[userKey{c.User, c.Key}] = c.ID
	}
	for _, id := range waitsFor {
		s.dependents[id] = append(s.dependents[id], c.ID)
	}
	s.account(c.Pool).Waiting += int64(c.Tasks)
	s.waited(j, "submitted", now)
	return fairlead.Submission{ID: c.ID}
}

func (s *Store) account(pool string) *fairlead.Account {
	a := s.accounts[pool]
	if a == nil {
		a = &fairlead.Account{Since: time.Now()}
		s.accounts[pool] = a
	}
	return a
}

// waited tells the feed that the job's tasks wait, if they may be leased.
func (s *Store) waited(j *job, why string, now time.Time) {
	if life.Eligible(&j.Job) {
		s.feed.Add(fairlead.Change{What: fairlead.Waited, Job: life.Header(&j.Job), Waits: j.waits(), State: j.State, Reason: why, At: now})
	}
}

// waits sums up the tasks that wait by the instant from which they may start.
func (j *job) waits() []fairlead.Waits {
	var w []fairlead.Waits
	if fresh := j.Tasks - j.next; fresh > 0 && j.Waiting > 0 {
		w = append(w, fairlead.Waits{Tasks: fresh, Begin: j.Begin})
	}
	for _, i := range j.returned {
		w = life.AddWaits(w, j.tasks[i].Begin)
	}
	return w
}

// Lease implements fairlead.Store.
func (s *Store) Lease(ctx context.Context, holder string, wants []fairlead.Want, ttl time.Duration) ([]fairlead.Grant, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.toll(wants, now, func(wants []fairlead.Want, out []fairlead.Grant) {
		s.grant(holder, wants, out, now, now.Add(ttl))
	}), nil
}

// grant leases what is wanted, or others in its place.
func (s *Store) grant(holder string, wants []fairlead.Want, out []fairlead.Grant, now, until time.Time) {
	wanted := map[int64]bool{}
	for i, w := range wants {
		wanted[w.Job] = true
		if j := s.jobs[w.Job]; j != nil && len(w.Nodes) > 0 {
			out[i] = s.leaseGang(j, w, now, until)
		} else if j != nil {
			out[i] = s.leaseTask(j, w.Charge, holder, now, until)
		}
	}
	for i, w := range wants {
		if j := s.jobs[w.Job]; out[i].Lease != nil || len(w.Nodes) > 0 || j != nil && j.Tasks > 1 && !j.State.Ended() {
			continue
		}
		for _, id := range w.Else {
			other := s.jobs[id]
			if other == nil || other.Tasks > 1 || wanted[id] {
				continue
			}
			if g := s.leaseTask(other, w.Charge, holder, now, until); g.Lease != nil {
				out[i] = g
				break
			}
		}
	}
}

// leaseTask leases a task of a job that is no gang, or says what of it waits.
func (s *Store) leaseTask(j *job, charge float64, holder string, now, until time.Time) (g fairlead.Grant) {
	t := j.take(now)
	if t == nil {
		if life.Eligible(&j.Job) {
			g.Waiting = j.waits()
		}
		return g
	}
	life.Lease(t, holder, charge, now, until)
	life.Start(&j.Job, now)
	a := s.account(j.Pool)
	a.Waiting--
	a.Running++
	spec := j.Job
	g.Lease = life.NewLease(&spec, t)
	return g
}

// take returns the task of the job that starts next, nil if none may.
func (j *job) take(now time.Time) *fairlead.Task {
	if !life.Eligible(&j.Job) || j.Gang > 1 || j.Most > 0 && j.Running >= j.Most {
		return nil
	}
	for k, i := range j.returned {
		if !j.tasks[i].Begin.After(now) {
			j.returned = slices.Delete(j.returned, k, k+1)
			return j.tasks[i]
		}
	}
	if j.next == j.Tasks || j.Begin.After(now) {
		return nil
	}
	i := j.next
	j.next++
	j.tasks[i] = &fairlead.Task{Job: j.ID, Index: i, Number: j.Numbers().At(i)}
	return j.tasks[i]
}

// holder finds the attempt that ref names, if it still is the current one.
func (s *Store) holder(ref fairlead.Ref) (*job, *fairlead.Task, error) {
	j := s.jobs[ref.JobID]
	if j == nil {
		return nil, nil, fairlead.ErrNotFound
	}
	t := j.tasks[ref.Task]
	if t == nil || t.State != fairlead.Running || t.Attempt != ref.Attempt {
		return nil, nil, fairlead.ErrStaleAttempt
	}
	return j, t, nil
}

// Renew implements fairlead.Store.
func (s *Store) Renew(ctx context.Context, refs []fairlead.Ref, ttl time.Duration) ([]error, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]error, len(refs))
	for i, r := range refs {
		var t *fairlead.Task
		if _, t, out[i] = s.holder(r); out[i] == nil {
			t.Until = now.Add(ttl)
		}
	}
	return out, nil
}

// Finish implements fairlead.Store.
func (s *Store) Finish(ctx context.Context, results []fairlead.Result) ([]fairlead.Verdict, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]fairlead.Verdict, len(results))
	for i, r := range results {
		if out[i].Err = life.Check(r.Outcome); out[i].Err != nil {
			continue
		}
		j, t, err := s.holder(r.Ref)
		if err != nil {
			out[i].Err = err
			continue
		}
		ended := life.Ends(&j.Job, t, r, now)
		s.charge(j, t, ended, life.Learns(r.Outcome), now)
		parting := life.Part(&j.Job, life.HowEnded(r.Outcome))
		again := life.Finish(&j.Job, t, r.Outcome, ended, now)
		if again {
			s.note(life.AgainEvent(t, r.Outcome, now))
		}
		s.back(j, t, again, parting, now)
		out[i] = fairlead.Verdict{State: j.State, Again: again}
	}
	return out, nil
}

// back keeps a task that waits again, and follows up on a job that ended.
func (s *Store) back(j *job, t *fairlead.Task, again bool, p life.Parting, now time.Time) {
	s.drop(life.Ref(t))
	if again {
		i, _ := slices.BinarySearch(j.returned, t.Index)
		j.returned = slices.Insert(j.returned, i, t.Index)
		s.account(j.Pool).Waiting++
		if life.Eligible(&j.Job) && j.Gang < 2 {
			w := []fairlead.Waits{{Tasks: 1, Begin: t.Begin}}
			s.feed.Add(fairlead.Change{What: fairlead.Waited, Job: life.Header(&j.Job), Waits: w, State: j.State, Reason: "again", At: now})
		}
	}
	s.regroup(j, t, p, now)
	if j.State.Ended() {
		s.ended(j, now)
	}
}

// ended tells the jobs that depend on one that ended.
func (s *Store) ended(j *job, now time.Time) {
	s.feed.Add(fairlead.Change{What: fairlead.Done, Job: life.Header(&j.Job), State: j.State, Reason: j.Cause, At: now})
	waiting := s.dependents[j.ID]
	delete(s.dependents, j.ID)
	for _, id := range waiting {
		d := s.jobs[id]
		if d.State.Ended() || d.Pending == 0 { // requeued since: it waits for nobody
			continue
		}
		for _, on := range d.After {
			if on.Job != j.ID {
				continue
			}
			if !on.On.Met(j.State) {
				s.cancel(d, life.Unmet(on, j.State), now)
				break
			}
			if d.Pending--; d.Pending == 0 {
				d.State = life.State(&d.Job)
				s.waited(d, "dependencies met", now)
			}
		}
	}
}

// Release implements fairlead.Store.
func (s *Store) Release(ctx context.Context, refs []fairlead.Ref) ([]error, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]error, len(refs))
	for i, r := range refs {
		j, t, err := s.holder(r)
		if out[i] = err; err != nil {
			continue
		}
		s.account(j.Pool).Running--
		parting := life.Part(&j.Job, life.HowGiven)
		s.back(j, t, life.Release(&j.Job, t, now), parting, now)
	}
	return out, nil
}
