package storetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Twins makes two stores do the same random operations at the same virtual instants and compares all their answers.
// The argument seeds is the number of runs. To repeat one of them, use -run with the name that a failure prints.
func Twins(t *testing.T, a, b Open, seeds int) {
	for seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &twins{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 4)), a: a(t), b: b(t), refs: map[queue.Ref]bool{}}
				defer w.a.Close()
				defer w.b.Close()
				w.setHalfLife(time.Duration(seed%3) * time.Second)
				for range 150 {
					w.operate()
				}
				w.compareAll()
			})
		})
	}
}

type twins struct {
	t    *testing.T
	rng  *rand.Rand
	a, b queue.Store
	last int64
	refs map[queue.Ref]bool // attempts, over or not
}

// same fails if the two answers differ.
func (w *twins) same(what string, x, y any, errs ...error) {
	w.t.Helper()
	for _, err := range errs {
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
	}
	if p, q := fmt.Sprintf("%+v", x), fmt.Sprintf("%+v", y); p != q {
		w.t.Fatalf("%s:\n%s\n%s", what, p, q)
	}
}

// setHalfLife sets the half-life of both stores; usage decays many times in one run if it is short.
func (w *twins) setHalfLife(half time.Duration) {
	for _, s := range []queue.Store{w.a, w.b} {
		if acc, is := s.(queue.Accountant); is {
			w.same("half-life", nil, acc.SetHalfLife(w.t.Context(), half))
		}
	}
}

func (w *twins) operate() {
	ctx := w.t.Context()
	switch n := w.rng.IntN(23); {
	case n < 5:
		w.submit()
	case n < 9:
		w.lease()
	case n < 12:
		w.finish()
	case n < 13:
		refs := w.someRefs()
		x, e1 := w.a.Release(ctx, refs)
		y, e2 := w.b.Release(ctx, refs)
		w.same("release", sentinels(x), sentinels(y), e1, e2)
	case n < 14:
		refs := w.someRefs()
		x, e1 := w.a.Renew(ctx, refs, time.Minute)
		y, e2 := w.b.Renew(ctx, refs, time.Minute)
		w.same("renew", sentinels(x), sentinels(y), e1, e2)
	case n < 15:
		holder := []string{"", "x", "y"}[w.rng.IntN(3)]
		x, e1 := w.a.Expire(ctx, holder)
		y, e2 := w.b.Expire(ctx, holder)
		w.same("expire", x, y, e1, e2)
	case n < 18:
		w.alter()
	case n < 19:
		w.stop()
	case n < 21:
		w.progress()
	default:
		time.Sleep(time.Duration(w.rng.IntN(20_000)) * time.Millisecond)
	}
}

func pick[T any](w *twins, from ...T) T { return from[w.rng.IntN(len(from))] }

func (w *twins) submit() {
	var jobs []*queue.Job
	for range 1 + w.rng.IntN(3) {
		j := job(func(j *queue.Job) {
			j.Pool, j.User = pick(w, "a", "a/b", "c"), pick(w, "ann", "bob")
			j.Array = pick(w, "", "", "0-3", "1-9:4%2", "7")
			if j.Array == "" {
				j.Gang = pick(w, 0, 0, 2, 4)
			}
			j.Retries, j.Backoff = w.rng.IntN(3), time.Second
			j.Held = w.rng.IntN(8) == 0
			j.Key, j.KeyUntilEnd = pick(w, "", "", "", "k1", "k2"), pick(w, false, true)
			j.Request = queue.Amounts{"cpu": w.rng.Int64N(3)}
			if w.rng.IntN(6) == 0 {
				j.Begin = time.Now().Add(time.Duration(w.rng.IntN(9000)) * time.Millisecond)
			}
			if w.last > 0 && w.rng.IntN(4) == 0 {
				j.After = []queue.Dependency{{Job: 1 + w.rng.Int64N(w.last+1), On: pick(w, queue.OnOK, queue.OnAny, queue.OnFailed)}}
			}
		})
		jobs = append(jobs, j)
	}
	x, e1 := w.a.Submit(w.t.Context(), jobs)
	y, e2 := w.b.Submit(w.t.Context(), jobs)
	for i := range x {
		w.last = max(w.last, x[i].ID)
		w.same("submission error", x[i].Err, y[i].Err)
	}
	w.same("submit", x, y, e1, e2)
}

// anyJob usually returns one of the latest jobs, so that many operations hit each job.
func (w *twins) anyJob() int64 {
	return max(1, w.last+1-w.rng.Int64N(6))
}

func (w *twins) lease() {
	wants := make([]queue.Want, 1+w.rng.IntN(5))
	lists := w.lists()
	for i := range wants {
		wants[i].Job = w.anyJob()
		if k := w.rng.IntN(2 * len(lists)); k < len(lists) {
			wants[i].Else, wants[i].Charge = lists[k], float64(k)
			w.limit(&wants[i], k)
		} else {
			w.limit(&wants[i], w.rng.IntN(4))
		}
		if jobs, err := w.a.Jobs(w.t.Context(), queue.Query{IDs: []int64{wants[i].Job}}); err == nil && len(jobs) == 1 && w.rng.IntN(4) > 0 {
			for range jobs[0].Gang {
				wants[i].Nodes = append(wants[i].Nodes, pick(w, "x", "y"))
			}
		}
	}
	holder := pick(w, "x", "y")
	ttl := time.Duration(1+w.rng.IntN(30)) * time.Second
	x, e1 := w.a.Lease(w.t.Context(), holder, wants, ttl)
	y, e2 := w.b.Lease(w.t.Context(), holder, wants, ttl)
	w.same("lease", brief(x), brief(y), e1, e2)
	for _, g := range x {
		for _, l := range leasesOf(g) {
			w.refs[l.Ref] = true
		}
	}
}

// lists returns two lists of alternates for wants, without a common job.
func (w *twins) lists() [2][]int64 {
	var out [2][]int64
	for _, i := range w.rng.Perm(10) {
		k := w.rng.IntN(3)
		if id := w.last + 1 - int64(i); k < 2 && id > 0 {
			out[k] = append(out[k], id)
		}
	}
	return out
}

// limit puts a want under a rate, or makes it hold an amount.
func (w *twins) limit(want *queue.Want, k int) {
	switch k {
	case 0:
		want.Rates = []sched.RateLimit{{Name: "web", Limit: sched.Rate{Count: 1, Per: 3 * time.Second, Burst: 2}}}
	case 1:
		if w.shared() {
			want.Holds = []sched.Held{{Of: "license matlab", Amount: 1, Max: 3}}
		}
	}
}

func (w *twins) shared() bool {
	_, a := w.a.(queue.Sharer)
	_, b := w.b.(queue.Sharer)
	return a && b
}

// brief omits the part of an answer that a store may leave out: the job's present counts.
func brief(grants []queue.Grant) []string {
	var out []string
	for _, g := range grants {
		text := fmt.Sprintf("%+v %s", g.Waiting, g.Refused)
		for _, r := range g.Rates {
			text += fmt.Sprint(r.Name, r.Limit, r.Full.UnixNano(), r.Taken, r.At.UnixNano())
		}
		for _, l := range leasesOf(g) {
			text += fmt.Sprint(l.Ref, l.Number, l.Holder, l.Nodes, l.Started, l.Until, l.Job.ID, l.Job.Argv, l.Job.Pool, l.Job.Request, l.Job.Priority, l.Job.Tasks)
		}
		out = append(out, text)
	}
	return out
}

// leasesOf returns the leases of a grant.
func leasesOf(g queue.Grant) []*queue.Lease {
	if g.Lease != nil {
		return []*queue.Lease{g.Lease}
	}
	return g.Gang
}

func (w *twins) someRefs() []queue.Ref {
	var all []queue.Ref
	for r := range w.refs {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b queue.Ref) int {
		return int(a.JobID-b.JobID)*10000 + (a.Task-b.Task)*100 + a.Attempt - b.Attempt
	})
	var out []queue.Ref
	for range min(len(all), w.rng.IntN(4)) {
		out = append(out, all[w.rng.IntN(len(all))])
	}
	return out
}

func (w *twins) finish() {
	var results []queue.Result
	for _, r := range w.someRefs() {
		res := queue.Result{Ref: r, Outcome: pick(w, ok, ok, failed, killed, refusal(queue.RefusedUser), refusal(queue.RefusedNow))}
		if w.rng.IntN(3) == 0 {
			res.Began, res.Ended = w.recent(), w.recent()
		}
		results = append(results, res)
	}
	x, e1 := w.a.Finish(w.t.Context(), results)
	y, e2 := w.b.Finish(w.t.Context(), results)
	w.same("finish", x, y, e1, e2)
}

func (w *twins) alter() {
	c := []queue.Alteration{{
		Job: w.anyJob(), Cause: "x", Priority: "high", Pool: pick(w, "a", "c", "d"), Limit: time.Hour,
		Verb: pick(w, queue.VerbCancel, queue.VerbHold, queue.VerbRelease, queue.VerbRequeue, queue.VerbUncancel, queue.VerbPrioritise,
			queue.VerbMove, queue.VerbLimit),
	}}
	c[0].Waiting = c[0].Verb == queue.VerbCancel && w.rng.IntN(2) == 0
	x, e1 := w.a.Alter(w.t.Context(), c)
	y, e2 := w.b.Alter(w.t.Context(), c)
	w.same("alter", x, y, e1, e2)
}

// stop stops attempts; most of them are over.
func (w *twins) stop() {
	var stops []queue.Stopped
	for _, r := range w.someRefs() {
		stops = append(stops, queue.Stopped{Ref: r, Reason: why.Stop{
			At: time.Now(), Rule: "min-share", Job: r.JobID, Task: r.Task, Attempt: r.Attempt, Lost: float64(w.rng.IntN(9)),
		}})
	}
	x, e1 := w.a.StopRuns(w.t.Context(), stops)
	y, e2 := w.b.StopRuns(w.t.Context(), stops)
	w.same("stop", sentinels(x), sentinels(y), e1, e2)
	s1, e1 := w.a.Stops(w.t.Context(), queue.StopQuery{Limit: 3})
	s2, e2 := w.b.Stops(w.t.Context(), queue.StopQuery{Limit: 3})
	w.same("number of stops", len(s1), len(s2), e1, e2)
	for i := range s1 {
		w.same("stop", s1[i].Reason.Line(), s2[i].Reason.Line())
	}
}

// progress reports the progress of attempts; most of them are over.
func (w *twins) progress() {
	var all []queue.Progress
	for _, r := range w.someRefs() {
		p := queue.Progress{Ref: r}
		if w.rng.IntN(2) == 0 {
			p.Began = w.recent()
		}
		all = append(all, p)
	}
	x, e1 := w.a.Progress(w.t.Context(), all)
	y, e2 := w.b.Progress(w.t.Context(), all)
	w.same("progress", sentinels(x), sentinels(y), e1, e2)
}

// recent returns an instant of the recent past or the near future, or the zero time.
func (w *twins) recent() time.Time {
	n := w.rng.IntN(15)
	if n == 0 {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(n-12) * time.Second)
}

// sentinels names the errors by the sentinels of the interface.
func sentinels(errs []error) []string {
	var out []string
	for _, err := range errs {
		switch {
		case err == nil:
			out = append(out, "ok")
		case errors.Is(err, queue.ErrStaleAttempt), errors.Is(err, queue.ErrNotFound):
			out = append(out, "refused")
		default:
			out = append(out, err.Error())
		}
	}
	return out
}

// compareAll compares everything that can be read from the two stores.
func (w *twins) compareAll() {
	ctx := w.t.Context()
	x, e1 := w.a.Jobs(ctx, queue.Query{})
	y, e2 := w.b.Jobs(ctx, queue.Query{})
	w.same("number of jobs", len(x), len(y), e1, e2)
	for i := range x {
		w.same("job", *x[i], *y[i])
		t1, e1 := w.a.Tasks(ctx, x[i].ID)
		t2, e2 := w.b.Tasks(ctx, x[i].ID)
		w.same("tasks", t1, t2, e1, e2)
	}
	c1, _, e1 := w.a.Changes(ctx, 0, 0)
	c2, _, e2 := w.b.Changes(ctx, 0, 0)
	w.same("number of changes", len(c1), len(c2), e1, e2)
	for i := range c1 {
		w.same("change", c1[i], c2[i])
	}
	w.compareAccounts()
}

func (w *twins) compareAccounts() {
	ctx := w.t.Context()
	a, isA := w.a.(queue.Accountant)
	b, isB := w.b.(queue.Accountant)
	if !isA || !isB {
		return
	}
	u1, e1 := a.Usage(ctx)
	u2, e2 := b.Usage(ctx)
	w.same("usage", rounded(u1), rounded(u2), e1, e2)
	for _, s := range []queue.Accountant{a, b} {
		u, e1 := s.Usage(ctx)
		counted, e2 := s.Recount(ctx)
		for pool, acc := range u.Pools {
			w.same("counters of "+pool+" and recount", acc.Counters, counted[pool], e1, e2)
		}
	}
}

// rounded drops the last digits of amounts, which depend on the order of additions, and amounts that are almost zero.
func rounded(u queue.Accounts) queue.Accounts {
	round := func(x float64) float64 {
		if math.Abs(x) < 1e-9 {
			return 0
		}
		y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 9, 64), 64)
		return y
	}
	for path, a := range u.Pools {
		a.Used, a.Mean, a.Seen, a.Total = round(a.Used), round(a.Mean), round(a.Seen), round(a.Total)
		u.Pools[path] = a
	}
	return u
}
