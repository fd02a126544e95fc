package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/postgres"
	"github.com/fairlead/fairlead/store/storetest"
)

// clock is the time that several stores share.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time        { return time.Unix(0, c.nanos.Load()) }
func (c *clock) pass(by time.Duration) { c.nanos.Add(int64(by)) }

// timed opens n stores on one schema, which share a clock.
func timed(t *testing.T, n int) ([]*postgres.Store, *clock) {
	t.Helper()
	c := &clock{}
	c.pass(time.Duration(time.Now().Unix()) * time.Second)
	url, schema := pgtest.URL(t)
	stores := make([]*postgres.Store, n)
	for i := range stores {
		stores[i] = at(t, url+"&pool_max_conns=4", postgres.Options{Schema: schema, Now: c.now})
		t.Cleanup(func() { stores[i].Close() })
	}
	return stores, c
}

// leased claims the wanted jobs from a store and returns the leases.
func leased(t *testing.T, s queue.Store, wants ...queue.Want) (out []*queue.Lease, refused int) {
	t.Helper()
	grants, err := s.Lease(context.Background(), "h", wants, time.Minute)
	if err != nil {
		t.Error(err)
	}
	for _, g := range grants {
		if g.Lease != nil {
			out = append(out, g.Lease)
		} else if g.Refused != "" {
			refused++
		}
	}
	return out, refused
}

// TestRateOverServers: four servers all ask for more starts than a rate of 5/s allows, at the same instants. Together
// they get exactly the starts that the rate allows, in any window.
func TestRateOverServers(t *testing.T) {
	stores, c := timed(t, 4)
	limit := sched.Rate{Count: 5, Per: time.Second, Burst: 7}
	array := submit(t, stores[0], 1, 1, func(j *queue.Job) { j.Array = "0-999" })[0]
	wants := slices.Repeat([]queue.Want{{Job: array, Rates: []sched.RateLimit{{Name: "web", Limit: limit}}}}, 3)
	var mu sync.Mutex
	var at []time.Time
	const steps, step = 60, 70 * time.Millisecond
	for range steps {
		var wg sync.WaitGroup
		for _, s := range stores {
			wg.Go(func() {
				got, _ := leased(t, s, wants...)
				mu.Lock()
				defer mu.Unlock()
				for _, l := range got {
					at = append(at, l.Started)
				}
			})
		}
		wg.Wait()
		c.pass(step)
	}
	storetest.InRate(t, at, limit)
	if want := 7 + int((steps-1)*step*5/time.Second); len(at) != want {
		t.Errorf("%d tasks started, want all %d that the rate gives", len(at), want)
	}
}

// TestTenThousandRates: four servers claim jobs under 10,000 rates at once; no rate is exceeded.
func TestTenThousandRates(t *testing.T) {
	const keys, jobs, batch = 10_000, 12_000, 200
	stores, _, _ := several(t, 4)
	limit := sched.Rate{Count: 1, Per: time.Second}
	var ids []int64
	for range jobs / 2000 {
		ids = append(ids, submit(t, stores[0], 2000, 10)...)
	}
	var next, refused atomic.Int64
	var mu sync.Mutex
	at := map[int64][]time.Time{}
	began := time.Now()
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for {
				to := int(next.Add(batch))
				if to > len(ids) {
					return
				}
				key := map[int64]int64{}
				var wants []queue.Want
				for _, id := range ids[to-batch : to] {
					key[id] = rng.Int64N(keys)
					wants = append(wants, queue.Want{Job: id,
						Rates: []sched.RateLimit{{Name: fmt.Sprint("key", key[id]), Limit: limit}}})
				}
				got, no := leased(t, s, wants...)
				refused.Add(int64(no))
				mu.Lock()
				for _, l := range got {
					at[key[l.JobID]] = append(at[key[l.JobID]], l.Started)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	took, started := time.Since(began), 0
	for _, x := range at {
		started += len(x)
		storetest.InRate(t, x, limit)
	}
	t.Logf("%d leases under %d keys in %v, %.0f a second; %d refused", started, len(at), took,
		float64(started)/took.Seconds(), refused.Load())
	if started+int(refused.Load()) != jobs || started < jobs/2 {
		t.Errorf("%d of %d jobs started, %d were refused", started, jobs, refused.Load())
	}
}

// TestLicensesOverServers: four servers take and end tasks as fast as they can. Together they never hold more of a
// license than there is.
func TestLicensesOverServers(t *testing.T) {
	const most = 5
	stores, url, schema := several(t, 4)
	ids := submit(t, stores[0], 300, 3)
	array := submit(t, stores[0], 1, 1, func(j *queue.Job) { j.Array = "0-99" })[0]
	ids = append(ids, slices.Repeat([]int64{array}, 100)...)
	var next, held, peak atomic.Int64
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(i)))
			for !t.Failed() {
				n := 1 + rng.IntN(4)
				to := int(next.Add(int64(n)))
				if to-n >= len(ids) {
					return
				}
				for todo := ids[to-n : min(to, len(ids))]; len(todo) > 0 && !t.Failed(); {
					todo = takeAndEnd(t, s, todo, most, &held, &peak)
				}
			}
		})
	}
	wg.Wait()
	if got := peak.Load(); got > most || got < 2 {
		t.Errorf("up to %d of %d licenses were held at once", got, most)
	}
	if got := fmt.Sprint(counters(t, stores[0])); got != "{0 0}" {
		t.Errorf("the counters are %s at the end", got)
	}
	if _, refused := leased(t, stores[1], holding(submit(t, stores[0], 1, 1)[0], 4),
		holding(submit(t, stores[0], 1, 1)[0], 2)); refused != 1 {
		t.Errorf("%d of two were refused that would hold 4 and 2 of 5", refused)
	}
	heldIs(t, url, schema, 4)
}

func holding(id, amount int64) queue.Want {
	return queue.Want{Job: id, Holds: []sched.Held{{Of: "license matlab", Amount: amount, Max: 5}}}
}

// heldIs compares the amount that running tasks hold with its stored sum.
func heldIs(t *testing.T, url, schema string, want int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var held, counted int64
	err = conn.QueryRow(t.Context(), strings.ReplaceAll(`SELECT (SELECT sum(held) FROM @.quota) - (SELECT coalesce(sum(amount), 0) FROM @.freed),
		(SELECT coalesce(sum((holds ->> 'held license matlab')::bigint), 0) FROM @.holding)`, "@", schema)).Scan(&held, &counted)
	if err != nil || held != want || counted != want {
		t.Errorf("held is %d, counted %d, want %d (%v)", held, counted, want, err)
	}
}

// TestRatesMadeAnew: a database that has lost recent changes, for example after a failover, stops nothing.
func TestRatesMadeAnew(t *testing.T) {
	stores, url, schema := several(t, 1)
	want := func() queue.Want {
		w := holding(submit(t, stores[0], 1, 1)[0], 1)
		w.Rates = []sched.RateLimit{{Name: "web", Limit: sched.Rate{Count: 1, Per: time.Hour, Burst: 2}}}
		return w
	}
	if got, refused := leased(t, stores[0], want(), want(), want()); len(got) != 2 || refused != 1 {
		t.Errorf("%d leased, %d refused", len(got), refused)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `DELETE FROM `+schema+`.quota WHERE key LIKE 'rate%'`); err != nil {
		t.Fatal(err)
	}
	if got, refused := leased(t, stores[0], want(), want(), want()); len(got) != 2 || refused != 1 {
		t.Errorf("later %d leased, %d refused", len(got), refused)
	}
	heldIs(t, url, schema, 4)
}

// takeAndEnd leases as many jobs with a license as it can, ends them, and returns the rest.
func takeAndEnd(t *testing.T, s queue.Store, ids []int64, most int64, held, peak *atomic.Int64) (rest []int64) {
	wants := make([]queue.Want, len(ids))
	for i, id := range ids {
		wants[i] = queue.Want{Job: id, Holds: []sched.Held{{Of: "license matlab", Amount: 1, Max: most}}}
	}
	grants, err := s.Lease(context.Background(), "h", wants, time.Minute)
	if err != nil {
		t.Error(err)
		return nil
	}
	var results []queue.Result
	for i, g := range grants {
		switch {
		case g.Lease != nil:
			results = append(results, queue.Result{Ref: g.Lease.Ref, Outcome: queue.Outcome{State: queue.Succeeded}})
		case g.Refused != "":
			rest = append(rest, ids[i])
		default:
			t.Errorf("job %d was lost: %+v", ids[i], g)
		}
	}
	if len(results) == 0 {
		return rest
	}
	now := held.Add(int64(len(results)))
	for p := peak.Load(); now > p && !peak.CompareAndSwap(p, now); p = peak.Load() {
	}
	held.Add(-int64(len(results))) // before the units are free for others
	if _, err := s.Finish(context.Background(), results); err != nil {
		t.Error(err)
	}
	return rest
}

// counters returns the sums of all pools, which have to agree with a recount.
func counters(t *testing.T, s *postgres.Store) (sum queue.Counters) {
	t.Helper()
	usage, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counted, err := s.Recount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for pool, a := range usage.Pools {
		if a.Counters != counted[pool] {
			t.Errorf("pool %s: counters %+v, counted %+v", pool, a.Counters, counted[pool])
		}
		sum.Waiting += a.Waiting
		sum.Running += a.Running
	}
	return sum
}

// TestLicensesOfDeadServer: the licenses that a dead server held are free when its leases have run out, and not before.
func TestLicensesOfDeadServer(t *testing.T) {
	stores, c := timed(t, 2)
	array := submit(t, stores[0], 1, 1, func(j *queue.Job) { j.Array = "0-9" })[0]
	wants := slices.Repeat([]queue.Want{{Job: array, Holds: []sched.Held{{Of: "license matlab", Amount: 1, Max: 5}}}}, 6)
	if got, refused := leased(t, stores[0], wants...); len(got) != 5 || refused != 1 {
		t.Fatalf("%d leased and %d refused", len(got), refused)
	}
	stores[0].Close()
	for _, after := range []struct {
		pass time.Duration
		want int
	}{{59 * time.Second, 0}, {2 * time.Second, 5}} {
		c.pass(after.pass)
		if _, err := stores[1].Expire(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if got, _ := leased(t, stores[1], wants...); len(got) != after.want {
			t.Errorf("%v later, %d leased, want %d", after.pass, len(got), after.want)
		}
	}
	if got := fmt.Sprint(counters(t, stores[1])); got != "{5 5}" {
		t.Errorf("the counters are %s", got)
	}
}
