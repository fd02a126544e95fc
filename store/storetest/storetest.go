// Package storetest is the contract of fairlead.Store as a test suite. The test of
// a store is one call of [Run]; a bug that is found in a store is first a new case
// here.
package storetest

import (
	"context"
	"errors"
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
	for _, c := range contract {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &suite{t: t, ctx: t.Context(), Store: open(t)}
				defer s.Close()
				c.test(s)
			})
		})
	}
}

// contract are the cases.
var contract = []struct {
	name string
	test func(*suite)
}{
	{"SubmitGivesGrowingIDs", submitGivesGrowingIDs},
	{"SubmitKeepsEveryField", submitKeepsEveryField},
	{"SubmitRefusesOnlyTheBad", submitRefusesOnlyTheBad},
	{"SubmitIsIdempotentByKey", submitIsIdempotentByKey},
	{"KeyUntilEnd", keyUntilEnd},
	{"LeaseTakesEachTaskOnce", leaseTakesEachTaskOnce},
	{"LeaseIsLostWithoutWaitingTasks", leaseIsLost},
	{"LeaseRespectsBegin", leaseRespectsBegin},
	{"LeaseRespectsMost", leaseRespectsMost},
	{"ConcurrentClaims", concurrentClaims},
	{"LeaseElsewhere", leaseElsewhere},
	{"LeaseElsewhereOfSome", leaseElsewhereOfSome},
	{"LeaseElsewhereCharges", leaseElsewhereCharges},
	{"ConcurrentElse", concurrentElse},
	{"RatesAreKept", ratesAreKept},
	{"RatesOfGangs", ratesOfGangs},
	{"RatesHoldInAnyWindow", ratesHoldInAnyWindow},
	{"HoldsAreChecked", holdsAreChecked},
	{"HoldsOfJobs", holdsOfJobs},
	{"FinishEndsTheJob", finishEndsTheJob},
	{"FinishRefusesOutcomes", finishRefuses},
	{"WaitsElsewhere", waitsElsewhere},
	{"WaitsElsewhereInVain", waitsElsewhereInVain},
	{"WaitsElsewhereBounds", waitsElsewhereBounds},
	{"WaitsElsewhereArray", waitsElsewhereArray},
	{"StaleAttemptsChangeNothing", staleAttempts},
	{"FailureIsTriedAgain", failureIsTriedAgain},
	{"ReleaseReturnsTheTask", releaseReturns},
	{"ExpireReturnsLostTasks", expireReturns},
	{"ExpireSetsPoisonAside", expireSetsAside},
	{"RenewKeepsTheLease", renewKeeps},
	{"ArrayTasks", arrayTasks},
	{"GangIsLeasedWhole", gangIsLeasedWhole},
	{"GangWaitsAgainWhole", gangWaitsAgainWhole},
	{"GangEndsWhole", gangEndsWhole},
	{"GangCountsOnce", gangCountsOnce},
	{"CancelWaitingAndRunning", cancelJobs},
	{"HoldAndRelease", holdAndRelease},
	{"RequeueEndedAndRunning", requeueJobs},
	{"PriorityChange", priorityChange},
	{"Move", moved},
	{"AlterRefuses", alterRefuses},
	{"Dependencies", dependencies},
	{"RequeuedDependent", requeuedDependent},
	{"QuerySelects", querySelects},
	{"SnapshotAndChanges", snapshotAndChanges},
	{"TollsReachTheScheduler", tollsReachTheScheduler},
	{"SnapshotStops", snapshotStops},
	{"StoppedRuns", stoppedRuns},
	{"StoppedTooLate", stoppedTooLate},
	{"StopsAreKept", stopsAreKept},
	{"NotifyWakes", notifyWakes},
	{"UsageIsCharged", usageIsCharged},
	{"ChargeOfTheStart", chargeOfTheStart},
	{"DaysAreKept", daysAreKept},
	{"UsageStaysFinite", usageStaysFinite},
	{"CountersAgreeWithRecount", countersAgree},
	{"EventsAreKept", eventsAreKept},
	{"SettingsAreKept", settingsAreKept},
	{"ChangesAreRecorded", changesAreRecorded},
	{"HistoryIsKept", historyIsKept},
	{"HistoryAddsUp", historyAddsUp},
	{"HistoryIsForgotten", historyIsForgotten},
	{"PoolsKnowTheirBeginning", poolsKnowTheirBeginning},
	{"ClosedStore", closedStore},
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
	hopeless := s.submit(job(func(j *fairlead.Job) { j.Retries = 5 }))[0]
	final := failed
	final.Final = true
	if v := s.finish(s.take(hopeless).Ref, final); v.Again {
		s.t.Errorf("a failure that no further try would mend: %+v", v)
	}
	s.state(hopeless, fairlead.Failed)
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
