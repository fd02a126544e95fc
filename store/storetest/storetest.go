// Package storetest is the contract of fairlead.Store as a test suite. The test of
// a store is one call of [Run]; a bug that is found in a store is first a new case
// here.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
)

// Open returns an empty store, which charges by the unit cpu. The suite closes it.
type Open func(t testing.TB) fairlead.Store

// Run checks that the stores that open returns keep the contract. Each case runs in
// virtual time, so the store must not wait for anything outside the process.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*suite)
	}{
		{"SubmitGivesGrowingIDs", submitGivesGrowingIDs},
		{"SubmitKeepsEveryField", submitKeepsEveryField},
		{"SubmitRefusesOnlyTheBad", submitRefusesOnlyTheBad},
		{"SubmitIsIdempotentByKey", submitIsIdempotentByKey},
		{"LeaseTakesEachTaskOnce", leaseTakesEachTaskOnce},
		{"LeaseIsLostWithoutWaitingTasks", leaseIsLost},
		{"LeaseRespectsBegin", leaseRespectsBegin},
		{"LeaseRespectsMost", leaseRespectsMost},
		{"ConcurrentClaims", concurrentClaims},
		{"FinishEndsTheJob", finishEndsTheJob},
		{"StaleAttemptsChangeNothing", staleAttempts},
		{"FailureIsTriedAgain", failureIsTriedAgain},
		{"ReleaseReturnsTheTask", releaseReturns},
		{"ExpireReturnsLostTasks", expireReturns},
		{"ExpireSetsPoisonAside", expireSetsAside},
		{"RenewKeepsTheLease", renewKeeps},
		{"ArrayTasks", arrayTasks},
		{"CancelWaitingAndRunning", cancelJobs},
		{"HoldAndRelease", holdAndRelease},
		{"RequeueEndedAndRunning", requeueJobs},
		{"PriorityChange", priorityChange},
		{"AlterRefuses", alterRefuses},
		{"Dependencies", dependencies},
		{"QuerySelects", querySelects},
		{"SnapshotAndChanges", snapshotAndChanges},
		{"NotifyWakes", notifyWakes},
		{"UsageIsCharged", usageIsCharged},
		{"CountersAgreeWithRecount", countersAgree},
		{"EventsAreKept", eventsAreKept},
		{"SettingsAreKept", settingsAreKept},
		{"ClosedStore", closedStore},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &suite{t: t, ctx: t.Context(), Store: open(t)}
				defer s.Close()
				c.test(s)
			})
		})
	}
}

// suite is a store with helpers that fail the test on an error.
type suite struct {
	fairlead.Store
	t   *testing.T
	ctx context.Context
}

const ttl = time.Minute

func job(f ...func(*fairlead.Job)) *fairlead.Job {
	j := &fairlead.Job{Name: "n", User: "ann", Pool: "a", Priority: "normal", Argv: []string{"true"}}
	for _, f := range f {
		f(j)
	}
	return j
}

func (s *suite) submit(jobs ...*fairlead.Job) []int64 {
	s.t.Helper()
	subs, err := s.Submit(s.ctx, jobs)
	if err != nil {
		s.t.Fatal(err)
	}
	var ids []int64
	for i, sub := range subs {
		if sub.Err != nil {
			s.t.Fatalf("job %d: %v", i, sub.Err)
		}
		ids = append(ids, sub.ID)
	}
	return ids
}

func (s *suite) lease(ids ...int64) []fairlead.Grant {
	s.t.Helper()
	return s.leaseFor(ttl, ids...)
}

func (s *suite) leaseFor(ttl time.Duration, ids ...int64) []fairlead.Grant {
	s.t.Helper()
	wants := make([]fairlead.Want, len(ids))
	for i, id := range ids {
		wants[i].Job = id
	}
	grants, err := s.Lease(s.ctx, "agent", wants, ttl)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(grants) != len(wants) {
		s.t.Fatalf("%d grants for %d wants", len(grants), len(wants))
	}
	return grants
}

// take leases one task that has to be there.
func (s *suite) take(id int64) *fairlead.Lease {
	s.t.Helper()
	l := s.lease(id)[0].Lease
	if l == nil {
		s.t.Fatalf("no lease of job %d", id)
	}
	return l
}

func (s *suite) finish(r fairlead.Ref, o fairlead.Outcome) fairlead.Verdict {
	s.t.Helper()
	v, err := s.Finish(s.ctx, []fairlead.Result{{Ref: r, Outcome: o}})
	if err != nil {
		s.t.Fatal(err)
	}
	return v[0]
}

var (
	ok     = fairlead.Outcome{State: fairlead.Succeeded}
	failed = fairlead.Outcome{State: fairlead.Failed, ExitCode: 3}
	killed = fairlead.Outcome{State: fairlead.Cancelled, Signal: "terminated"}
)

func (s *suite) get(id int64) *fairlead.Job {
	s.t.Helper()
	jobs, err := s.Jobs(s.ctx, fairlead.Query{IDs: []int64{id}})
	if err != nil || len(jobs) != 1 {
		s.t.Fatalf("job %d: %d found, %v", id, len(jobs), err)
	}
	return jobs[0]
}

func (s *suite) state(id int64, want fairlead.State) *fairlead.Job {
	s.t.Helper()
	j := s.get(id)
	if j.State != want {
		s.t.Fatalf("job %d is %s, want %s", id, j.State, want)
	}
	return j
}

func (s *suite) alter(id int64, v fairlead.Verb) error {
	s.t.Helper()
	errs, err := s.Alter(s.ctx, []fairlead.Alteration{{Job: id, Verb: v, Cause: "by ann"}})
	if err != nil {
		s.t.Fatal(err)
	}
	return errs[0]
}

func (s *suite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func submitGivesGrowingIDs(s *suite) {
	var all []int64
	for range 3 {
		all = append(all, s.submit(job(), job(), job())...)
	}
	if !slices.IsSorted(all) || len(slices.Compact(all)) != 9 || all[0] < 1 {
		s.t.Fatalf("ids %v", all)
	}
}

func submitKeepsEveryField(s *suite) {
	first := s.submit(job())[0]
	begin := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	in := &fairlead.Job{
		Name: "näme", Kind: "k", User: "ann", Group: "g", Requestor: "land/x", Pool: "a/b", Priority: "high",
		Argv: []string{"sh", "-c", "echo $X"}, Payload: []byte{0, 1, 255}, Script: true, Env: map[string]string{"X": "1\n2"},
		Dir: "/tmp", Output: "o.txt", Error: "e.txt", Request: fairlead.Amounts{"cpu": 2, "mem": 1 << 30},
		Limit: time.Hour, Begin: begin, Retries: 3, Backoff: time.Second, Array: "1-5:2,9", Most: 2,
		After: []fairlead.Dependency{{Job: first, On: fairlead.OnAny}}, Key: "key", Held: true,
	}
	got := s.get(s.submit(in)[0])
	if time.Since(got.Submitted) > time.Minute || time.Since(got.Submitted) < -time.Second {
		s.t.Errorf("submitted %v", got.Submitted)
	}
	want := *in
	want.ID, want.Submitted, want.State = got.ID, got.Submitted, fairlead.Held
	want.Tasks, want.Waiting, want.Pending = 4, 4, 1
	if !got.Begin.Equal(begin) {
		s.t.Errorf("begin %v, want %v", got.Begin, begin)
	}
	got.Begin = want.Begin
	if a, b := fmt.Sprintf("%+v", *got), fmt.Sprintf("%+v", want); a != b {
		s.t.Errorf("got  %s\nwant %s", a, b)
	}
}

func submitRefusesOnlyTheBad(s *suite) {
	subs, err := s.Submit(s.ctx, []*fairlead.Job{
		job(),
		job(func(j *fairlead.Job) { j.Name = "\x1b[31mred" }),
		job(func(j *fairlead.Job) { j.Array = "0-999999999999" }),
		job(func(j *fairlead.Job) { j.After = []fairlead.Dependency{{Job: 999}} }),
		job(func(j *fairlead.Job) { j.Payload = make([]byte, fairlead.MaxPayload+1) }),
		job(),
	})
	s.must(err)
	for i, want := range []error{nil, fairlead.ErrInvalid, fairlead.ErrInvalid, fairlead.ErrNotFound, fairlead.ErrInvalid, nil} {
		if !errors.Is(subs[i].Err, want) || want == nil && subs[i].Err != nil {
			s.t.Errorf("job %d: %v, want %v", i, subs[i].Err, want)
		}
	}
	if jobs, _ := s.Jobs(s.ctx, fairlead.Query{}); len(jobs) != 2 {
		s.t.Errorf("%d jobs are there, want 2", len(jobs))
	}
}

func submitIsIdempotentByKey(s *suite) {
	keyed := func(user, key string) *fairlead.Job {
		return job(func(j *fairlead.Job) { j.User, j.Key = user, key })
	}
	first := s.submit(keyed("ann", "k"))[0]
	subs, err := s.Submit(s.ctx, []*fairlead.Job{keyed("ann", "k"), keyed("bob", "k"), keyed("ann", "k2"), keyed("ann", "k2")})
	s.must(err)
	if subs[0].ID != first || !subs[0].Existing {
		s.t.Errorf("the same key gave %+v, want job %d again", subs[0], first)
	}
	if subs[1].Existing || subs[1].ID == first {
		s.t.Error("another user's key is another key")
	}
	if subs[3].ID != subs[2].ID || !subs[3].Existing {
		s.t.Error("the same key twice in one call made two jobs")
	}
	s.finish(s.take(first).Ref, ok)
	if again := s.submit(keyed("ann", "k"))[0]; again != first {
		s.t.Error("the key is forgotten when the job has ended")
	}
}

func leaseTakesEachTaskOnce(s *suite) {
	id := s.submit(job())[0]
	l := s.take(id)
	if l.JobID != id || l.Task != 0 || l.Attempt != 1 || l.Holder != "agent" || l.Job.Argv[0] != "true" {
		s.t.Errorf("lease %+v of %+v", l, l.Job)
	}
	if d := time.Until(l.Until); d > ttl || d < ttl-10*time.Second {
		s.t.Errorf("the lease is for %v, want %v", d, ttl)
	}
	if j := s.state(id, fairlead.Running); j.Waiting != 0 || j.Running != 1 || j.Started.IsZero() {
		s.t.Errorf("job %+v", j)
	}
	if g := s.lease(id)[0]; g.Lease != nil || len(g.Waiting) != 0 {
		s.t.Errorf("leased twice: %+v", g)
	}
}

func leaseIsLost(s *suite) {
	held := s.submit(job(func(j *fairlead.Job) { j.Held = true }))[0]
	for _, g := range s.lease(held, 12345) {
		if g.Lease != nil {
			s.t.Errorf("leased %+v", g.Lease)
		}
	}
}

func leaseRespectsBegin(s *suite) {
	begin := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	id := s.submit(job(func(j *fairlead.Job) { j.Begin, j.Array = begin, "0-2" }))[0]
	g := s.lease(id)[0]
	if g.Lease != nil {
		s.t.Fatal("leased before its begin time")
	}
	if len(g.Waiting) != 1 || g.Waiting[0].Tasks != 3 || !g.Waiting[0].Begin.Equal(begin) {
		s.t.Errorf("waits %+v, want 3 tasks from %v", g.Waiting, begin)
	}
}

func leaseRespectsMost(s *suite) {
	id := s.submit(job(func(j *fairlead.Job) { j.Array = "0-9%2" }))[0]
	g := s.lease(id, id, id)
	if g[0].Lease == nil || g[1].Lease == nil || g[2].Lease != nil {
		s.t.Fatalf("of 3 wants of a job that may run 2 tasks: %+v", g)
	}
	if len(g[2].Waiting) != 1 || g[2].Waiting[0].Tasks != 8 {
		s.t.Errorf("waits %+v, want 8 tasks", g[2].Waiting)
	}
	s.finish(g[0].Lease.Ref, ok)
	if l := s.take(id); l.Task != 2 {
		s.t.Errorf("task %d, want 2", l.Task)
	}
}

func concurrentClaims(s *suite) {
	const jobs, claimers = 200, 8
	var ids []int64
	for range jobs {
		ids = append(ids, s.submit(job())...)
	}
	won := make(chan int64, jobs*claimers)
	done := make(chan error, claimers)
	for c := range claimers {
		go func() {
			for i := range ids {
				g, err := s.Lease(s.ctx, fmt.Sprint("agent", c), []fairlead.Want{{Job: ids[(i+c*31)%jobs]}}, ttl)
				if err != nil {
					done <- err
					return
				}
				if g[0].Lease != nil {
					won <- g[0].Lease.JobID
				}
			}
			done <- nil
		}()
	}
	for range claimers {
		s.must(<-done)
	}
	close(won)
	claims := map[int64]int{}
	for id := range won {
		claims[id]++
	}
	for _, id := range ids {
		if claims[id] != 1 {
			s.t.Errorf("job %d was claimed %d times", id, claims[id])
		}
	}
}

func finishEndsTheJob(s *suite) {
	ids := s.submit(job(), job(), job())
	for i, o := range []fairlead.Outcome{ok, failed, killed} {
		l := s.take(ids[i])
		o.CPU, o.MaxRSS = 1500*time.Millisecond, 1<<20
		if v := s.finish(l.Ref, o); v.Err != nil || v.State != o.State || v.Again {
			s.t.Errorf("verdict %+v, want %s", v, o.State)
		}
		j := s.state(ids[i], o.State)
		if j.Ended.IsZero() || j.Running != 0 || j.Waiting != 0 {
			s.t.Errorf("job %+v", j)
		}
		tasks, err := s.Tasks(s.ctx, ids[i])
		s.must(err)
		if len(tasks) != 1 || tasks[0].Outcome != o || tasks[0].State != o.State || tasks[0].Holder != "agent" {
			s.t.Errorf("tasks %+v, want outcome %+v", tasks, o)
		}
	}
	if j := s.get(ids[1]); !strings.Contains(j.Cause, "3") {
		s.t.Errorf("cause %q does not tell the exit status", j.Cause)
	}
	if _, err := s.Tasks(s.ctx, 999); !errors.Is(err, fairlead.ErrNotFound) {
		s.t.Errorf("tasks of an unknown job: %v", err)
	}
}

func staleAttempts(s *suite) {
	id := s.submit(job())[0]
	first := s.take(id).Ref
	_, err := s.Expire(s.ctx, "agent")
	s.must(err)
	second := s.take(id).Ref
	if second.Attempt <= first.Attempt {
		s.t.Fatalf("attempt %d after %d", second.Attempt, first.Attempt)
	}
	stale := func(what string, err error) {
		s.t.Helper()
		if !errors.Is(err, fairlead.ErrStaleAttempt) {
			s.t.Errorf("%s of a stale attempt: %v", what, err)
		}
	}
	stale("finish", s.finish(first, ok).Err)
	errs, err := s.Renew(s.ctx, []fairlead.Ref{first, second}, ttl)
	s.must(err)
	stale("renew", errs[0])
	s.must(errs[1])
	errs, err = s.Release(s.ctx, []fairlead.Ref{first})
	s.must(err)
	stale("release", errs[0])
	s.state(id, fairlead.Running)
	if v := s.finish(second, ok); v.Err != nil {
		s.t.Fatal(v.Err)
	}
	stale("second finish", s.finish(second, failed).Err)
	s.state(id, fairlead.Succeeded)
	if err := s.finish(fairlead.Ref{JobID: 999, Attempt: 1}, ok).Err; !errors.Is(err, fairlead.ErrNotFound) && !errors.Is(err, fairlead.ErrStaleAttempt) {
		s.t.Errorf("finish of an unknown job: %v", err)
	}
}

func failureIsTriedAgain(s *suite) {
	id := s.submit(job(func(j *fairlead.Job) { j.Retries, j.Backoff = 2, time.Nanosecond }))[0]
	for try := 1; try <= 3; try++ {
		l := s.take(id)
		if l.Attempt != try {
			s.t.Fatalf("attempt %d, want %d", l.Attempt, try)
		}
		if v := s.finish(l.Ref, failed); v.Again != (try < 3) {
			s.t.Fatalf("try %d: %+v", try, v)
		}
		time.Sleep(time.Millisecond) // past the pause of a nanosecond, on any clock
	}
	s.state(id, fairlead.Failed)
	slow := s.submit(job(func(j *fairlead.Job) { j.Retries, j.Backoff = 1, time.Hour }))[0]
	s.finish(s.take(slow).Ref, failed)
	if g := s.lease(slow)[0]; g.Lease != nil || len(g.Waiting) != 1 || time.Until(g.Waiting[0].Begin) < 50*time.Minute {
		s.t.Errorf("during the pause: %+v", g)
	}
}

func releaseReturns(s *suite) {
	id := s.submit(job())[0]
	l := s.take(id)
	errs, err := s.Release(s.ctx, []fairlead.Ref{l.Ref})
	s.must(err)
	s.must(errs[0])
	s.state(id, fairlead.Waiting)
	if again := s.take(id); again.Attempt == l.Attempt {
		s.t.Error("the attempt number was used again")
	}
}

func expireReturns(s *suite) {
	ids := s.submit(job(), job())
	s.leaseFor(time.Nanosecond, ids[0])
	s.take(ids[1])
	time.Sleep(time.Millisecond)
	refs, err := s.Expire(s.ctx, "")
	s.must(err)
	if len(refs) != 1 || refs[0].JobID != ids[0] || refs[0].Attempt != 1 {
		s.t.Fatalf("expired %v, want job %d", refs, ids[0])
	}
	s.state(ids[0], fairlead.Waiting)
	s.state(ids[1], fairlead.Running)
	if refs, _ := s.Expire(s.ctx, "nobody"); len(refs) != 0 {
		s.t.Errorf("expired %v of a holder that has none", refs)
	}
	if refs, _ := s.Expire(s.ctx, "agent"); len(refs) != 1 || refs[0].JobID != ids[1] {
		s.t.Errorf("expired %v, want job %d", refs, ids[1])
	}
}

func expireSetsAside(s *suite) {
	id := s.submit(job(func(j *fairlead.Job) { j.Retries = 100 }))[0]
	for n := 0; s.get(id).State == fairlead.Waiting; n++ {
		if n > 20 {
			s.t.Fatal("a job that kills its agents is tried for ever")
		}
		s.take(id)
		_, err := s.Expire(s.ctx, "agent")
		s.must(err)
	}
	if j := s.state(id, fairlead.Failed); !strings.Contains(j.Cause, "lost") {
		s.t.Errorf("cause %q", j.Cause)
	}
}

func renewKeeps(s *suite) {
	id := s.submit(job())[0]
	l := s.leaseFor(time.Nanosecond, id)[0].Lease
	errs, err := s.Renew(s.ctx, []fairlead.Ref{l.Ref}, time.Hour)
	s.must(err)
	s.must(errs[0])
	time.Sleep(time.Millisecond)
	if refs, _ := s.Expire(s.ctx, ""); len(refs) != 0 {
		s.t.Errorf("expired %v although renewed", refs)
	}
}

func arrayTasks(s *suite) {
	id := s.submit(job(func(j *fairlead.Job) { j.Array = "3,10-30:10" }))[0]
	numbers := []int{}
	for i := range 4 {
		l := s.take(id)
		if l.Task != i {
			s.t.Errorf("task %d, want %d", l.Task, i)
		}
		numbers = append(numbers, l.Number)
		o := ok
		if i == 2 {
			o = failed
		}
		if v := s.finish(l.Ref, o); (v.State == fairlead.Failed) != (i == 3) {
			s.t.Errorf("after task %d the job is %s", i, v.State)
		}
	}
	if !slices.Equal(numbers, []int{3, 10, 20, 30}) {
		s.t.Errorf("numbers %v", numbers)
	}
	if j := s.state(id, fairlead.Failed); j.Succeeded != 3 || j.Failed != 1 {
		s.t.Errorf("job %+v", j)
	}
}
