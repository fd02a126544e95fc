package server

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// ran holds the facts about a job that its handler saw.
type ran struct {
	pool, user, kind     string
	came, started, ended time.Time
}

// TestReportIsRecomputed: the server reports on three hours of jobs around the end of a month, with a change of shares
// in the middle. The test adds up the same second by second from the records of the handlers. Of three pools that
// received nothing, the report contains the pool whose job could have started, in the month in which it waited.
func TestReportIsRecomputed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := time.Date(time.Now().Year(), time.Now().Month()+1, 1, 0, 0, 0, 0, time.UTC)
		zero := end.Add(-90 * time.Minute)
		time.Sleep(time.Until(zero))
		seen, d, loop := reported(t, zero)
		weigh := func(a, b float64) {
			s := allocation.Default()
			s.Sched.Root = share.Pool{Policy: "fair",
				Pools: []share.Pool{{Name: "a", Weight: a}, {Name: "b", Weight: b}, {Name: "idle", Weight: 1},
					{Name: "owed", Weight: 1}}}
			if err := loop.Configure(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		weigh(3, 1)
		waitInVain(t, loop, zero)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range 180 {
			if i == 60 {
				weigh(1, 4)
			}
			j := queue.Job{Pool: []string{"a", "b"}[rng.IntN(2)], User: fmt.Sprint("u", rng.IntN(3)), Kind: "work",
				Limit: time.Duration(1+rng.IntN(9)) * time.Minute}
			if subs, err := loop.Intake.SubmitAnyway(t.Context(), []queue.Job{j}); err != nil || subs[0].Err != nil {
				t.Fatal(err, subs)
			}
			time.Sleep(time.Minute)
		}
		until := zero.Add(3 * time.Hour)
		ask := func(query string) (out api.PastReport) {
			path := "/v1/report?since=" + zero.Format(time.RFC3339) + "&until=" + until.Format(time.RFC3339) + query
			if status := d.send(ann, "GET", path, nil, &out); status != 200 {
				t.Fatalf("%s: status %d", path, status)
			}
			return out
		}
		recomputeUsage(t, seen(), zero, until, ask("&by=month&by=pool&shares=true"))
		if doc := ask("&by=pool&shares=true&depth=1"); len(doc.Rows) != 3 || doc.Rows[2].Pool != "owed" ||
			doc.Rows[2].UnitSeconds != 0 {
			t.Errorf("without months: %+v", doc.Rows)
		}
		recomputeUsers(t, seen(), zero, until, ask("&by=user"))
		if status := d.send(ann, "GET", "/v1/report?by=user&shares=true", nil, nil); status != 422 {
			t.Errorf("shares of users: status %d", status)
		}
	})
}

// waitInVain submits a job that is canceled after half an hour in which its pool was paused, and a held job.
func waitInVain(t *testing.T, loop *engine.Loop, zero time.Time) {
	t.Helper()
	if _, err := loop.Overrides.Pause(t.Context(), engine.Pause{Pool: "owed", By: "root", Reason: "test"},
		"test"); err != nil {
		t.Fatal(err)
	}
	subs, err := loop.Intake.SubmitAnyway(t.Context(), []queue.Job{
		{Pool: "owed/x", User: "zoe", Kind: "work", Limit: time.Minute}, {Pool: "idle", User: "zoe", Kind: "work",
			Limit: time.Minute, Held: true},
	})
	if err != nil || subs[0].Err != nil || subs[1].Err != nil {
		t.Fatal(err, subs)
	}
	time.AfterFunc(time.Until(zero.Add(30*time.Minute)), func() {
		if err := loop.Client().Cancel(t.Context(), subs[0].ID); err != nil {
			t.Error(err)
		}
	})
}

// reported returns a server with four slots that records running tasks.
func reported(t *testing.T, zero time.Time) (func() []ran, *desk, *engine.Loop) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	store := memory.New("cpu")
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{LeaseTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []ran
	work := func(_ context.Context, l *queue.Lease) error {
		r := ran{l.Job.Pool, l.Job.User, l.Job.Kind, l.Job.Submitted, time.Now(), time.Time{}}
		time.Sleep(l.Job.Limit - time.Second)
		r.ended = time.Now()
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r)
		return nil
	}
	d := &desk{New(Options{Loop: loop, Store: store, KeepHistory: true}), loop, t}
	var wg sync.WaitGroup
	wg.Go(func() { loop.Run(ctx) })
	wg.Go(func() {
		loop.Work(ctx, engine.WorkOptions{Slots: 4, Handlers: map[string]engine.Handler{"work": engine.HandlerFunc(work)}})
	})
	t.Cleanup(func() { cancel(); wg.Wait(); store.Close() })
	synctest.Wait()
	seen := func() []ran {
		time.Sleep(2 * time.Hour) // by then all jobs have ended
		mu.Lock()
		defer mu.Unlock()
		if len(all) != 180 {
			t.Fatalf("%d jobs ran", len(all))
		}
		return all
	}
	return seen, d, loop
}

// recomputeUsage compares the usage of pools in each month, and their shares.
func recomputeUsage(t *testing.T, all []ran, from, until time.Time, got api.PastReport) {
	t.Helper()
	type key struct{ month, pool string }
	rows := map[key]bool{}
	had, due, started := map[key]float64{}, map[key]float64{}, map[key]int64{}
	for at := from; at.Before(until); at = at.Add(time.Second) {
		month, parts := at.Format("2006-01"), map[string]float64{"a": 3.0 / 6, "b": 1.0 / 6, "owed/x": 1.0 / 6}
		if !at.Before(from.Add(time.Hour)) {
			parts = map[string]float64{"a": 1.0 / 7, "b": 4.0 / 7, "owed/x": 1.0 / 7}
		}
		if at.Before(from.Add(30 * time.Minute)) {
			rows[key{month, "owed/x"}] = true
		}
		for _, r := range all {
			if !r.started.After(at) && r.ended.After(at) {
				had[key{month, r.pool}]++
				rows[key{month, r.pool}] = true
				for pool, part := range parts {
					due[key{month, pool}] += part
				}
			}
			if r.started.Sub(at) >= 0 && r.started.Sub(at) < time.Second {
				started[key{month, r.pool}]++
			}
		}
	}
	if len(got.Rows) != len(rows) {
		t.Fatalf("%d rows: %+v", len(got.Rows), got.Rows)
	}
	for _, r := range got.Rows {
		k := key{r.Month, r.Pool}
		if !rows[k] {
			t.Errorf("%s %s wanted nothing, or had it in another month", r.Month, r.Pool)
		}
		if math.Abs(r.UnitSeconds-had[k]) > 10 || r.Started != started[k] {
			t.Errorf("%s %s had %v s in %d starts, recomputed %v in %d", r.Month, r.Pool, r.UnitSeconds, r.Started, had[k],
				started[k])
		}
		want := due[k] / (had[key{r.Month, "a"}] + had[key{r.Month, "b"}])
		if r.Share == nil || math.Abs(*r.Share-want) > 0.003 || r.ShareNow {
			t.Errorf("the share of %s in %s is %v, recomputed %v", r.Pool, r.Month, *r.Share, want)
		}
	}
}

// recomputeUsers compares the waits of users.
func recomputeUsers(t *testing.T, all []ran, from, until time.Time, got api.PastReport) {
	t.Helper()
	waits := map[string][]float64{}
	for _, r := range all {
		if r.started.Before(until) {
			waits[r.user] = append(waits[r.user], r.started.Sub(r.came).Seconds())
		}
	}
	if len(got.Rows) != 3 {
		t.Fatalf("%d rows: %+v", len(got.Rows), got.Rows)
	}
	for _, r := range got.Rows {
		w := waits[r.User]
		slices.Sort(w)
		sum := 0.0
		for _, v := range w {
			sum += v
		}
		rank := func(q float64) float64 { return w[int(math.Ceil(q*float64(len(w))))-1] }
		for what, x := range map[string][2]float64{
			"mean": {r.MeanWait, sum / float64(len(w))}, "half": {r.P50Wait, rank(0.5)}, "19 of 20": {r.P95Wait,
				rank(0.95)}, "longest": {r.MaxWait, w[len(w)-1]},
		} {
			if math.Abs(x[0]-x[1]) > 1 {
				t.Errorf("%s of %s is %v, recomputed %v", what, r.User, x[0], x[1])
			}
		}
	}
}
