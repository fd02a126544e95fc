package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// forgetfulStore says now and then that it no longer has the changes that the loop asks for, so that
// the core has to be made anew.
type forgetfulStore struct {
	*memory.Store
	asked, forgot atomic.Int64
}

func (s *forgetfulStore) Changes(ctx context.Context, after int64, limit int) ([]queue.Change, int64, error) {
	if s.asked.Add(1)%50 == 0 {
		s.forgot.Add(1)
		return nil, 0, queue.ErrBehind
	}
	return s.Store.Changes(ctx, after, limit)
}

// crowd is a group of callers that ask a loop for things at the same time.
type crowd struct {
	t     *testing.T
	loop  *engine.Loop
	seed  uint64
	until time.Time
	group sync.WaitGroup
	did   sync.Map // what -> *atomic.Int64
}

// repeat does something again and again, with pauses of about that length, until the time is over. It may fail only
// because another caller is in its way.
func (c *crowd) repeat(what string, pause time.Duration, do func(rng *rand.Rand) error) {
	count, _ := c.did.LoadOrStore(what, &atomic.Int64{})
	c.group.Go(func() {
		rng := rand.New(rand.NewPCG(c.seed, uint64(len(what))))
		for time.Now().Before(c.until) {
			time.Sleep(time.Duration(float64(pause) * rng.ExpFloat64()))
			switch err := do(rng); {
			case err == nil:
				count.(*atomic.Int64).Add(1)
			case !errors.Is(err, queue.ErrNotFound) && !errors.Is(err, queue.ErrForbidden):
				c.t.Errorf("%s: %v", what, err)
				return
			}
		}
	})
}

// TestEverythingAtOnce lets users submit while workers come and go, administrators configure,
// pause, boost, reserve, drain and set usage, others ask, and the store now and then has forgotten the
// changes. Then all jobs end, each once, and all sums are those of a recount.
func TestEverythingAtOnce(t *testing.T) { everythingAtOnce(t, 1) }

func everythingAtOnce(t *testing.T, seed uint64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		store := &forgetfulStore{Store: memory.New("cpu")}
		loop, err := newLoop(ctx, store, engine.LoopOptions{Shares: rankedShares(1, time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		running.Go(func() {
			if err := loop.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		defer running.Wait()
		defer cancel()
		var ended sync.Map // job -> how often it came to its end
		work := engine.HandlerFunc(func(ctx context.Context, l *fairlead.Lease) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(l.JobID%7) * 20 * time.Millisecond):
			}
			n, _ := ended.LoadOrStore(l.JobID, &atomic.Int64{})
			n.(*atomic.Int64).Add(1)
			return nil
		})
		serve := func(ctx context.Context, name string) error {
			o := engine.WorkOptions{Name: name, Slots: 4, Grace: time.Second, Handlers: map[string]engine.Handler{"work": work}}
			return loop.Work(ctx, o)
		}
		running.Go(func() {
			if err := serve(ctx, "stays"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		c := &crowd{t: t, loop: loop, seed: seed, until: time.Now().Add(time.Minute)}
		jobs := c.everything(ctx, serve)
		c.group.Wait()
		c.calm(ctx)
		c.audit(ctx, jobs, &ended)
		c.did.Range(func(what, n any) bool {
			if n := n.(*atomic.Int64).Load(); n < 10 {
				t.Errorf("%s succeeded %d times only", what, n)
			}
			return true
		})
		if n := store.forgot.Load(); n < 10 {
			t.Errorf("the store forgot %d times only", n)
		}
	})
}

// everything begins all that goes on at once. It returns the list of the jobs, which is complete
// when the group has ended.
func (c *crowd) everything(ctx context.Context, serve func(context.Context, string) error) *[]int64 {
	loop, pool := c.loop, func(rng *rand.Rand) string { return []string{"a", "b"}[rng.IntN(2)] }
	var jobs []int64
	c.repeat("submit", 50*time.Millisecond, func(rng *rand.Rand) error {
		ids, err := loop.Client().Submit(ctx, queue.Job{Kind: "work", User: "ann", Pool: pool(rng), Limit: time.Minute, Retries: 100})
		jobs = append(jobs, ids...)
		return err
	})
	c.repeat("join and leave", 500*time.Millisecond, func(*rand.Rand) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return serve(ctx, "goes")
	})
	c.repeat("configure", 200*time.Millisecond, func(rng *rand.Rand) error {
		return loop.Configure(ctx, rankedShares(1+rng.Float64(), time.Duration(1+rng.IntN(2))*time.Hour))
	})
	c.repeat("pause", 200*time.Millisecond, func(rng *rand.Rand) error {
		_, err := loop.Overrides.Pause(ctx, engine.Pause{Pool: pool(rng), Until: time.Now().Add(300 * time.Millisecond)}, "test")
		return err
	})
	c.repeat("resume", 300*time.Millisecond, func(rng *rand.Rand) error {
		_, err := loop.Overrides.Resume(ctx, pool(rng), "root", "test")
		return err
	})
	c.repeat("boost", 200*time.Millisecond, func(rng *rand.Rand) error {
		b, err := loop.Overrides.Boost(ctx, engine.Boost{Pool: pool(rng), Factor: 2, Until: time.Now().Add(time.Second)}, "test")
		if err == nil && rng.IntN(2) == 0 {
			_, err = loop.Overrides.Unboost(ctx, b.ID, "root", "test")
		}
		return err
	})
	c.repeat("reserve", 300*time.Millisecond, func(rng *rand.Rand) error {
		from := time.Now().Add(time.Duration(rng.IntN(500)) * time.Millisecond)
		r := engine.Reservation{Name: "r", Nodes: []string{"stays"}, From: from, Until: from.Add(200 * time.Millisecond), Maintenance: true}
		if _, _, err := loop.Overrides.Reserve(ctx, r, engine.ReserveOptions{Force: true}); err != nil || rng.IntN(2) == 0 {
			return err
		}
		_, err := loop.Overrides.Unreserve(ctx, "r", "root", "test")
		return err
	})
	c.repeat("drain", 300*time.Millisecond, func(rng *rand.Rand) error {
		node := []string{"stays", "goes"}[rng.IntN(2)]
		if err := loop.Overrides.SetDrained(ctx, node, &engine.Drain{Reason: "a test"}, "", ""); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
		return loop.Overrides.SetDrained(ctx, node, nil, "", "")
	})
	c.repeat("set usage", 500*time.Millisecond, func(rng *rand.Rand) error {
		_, err := loop.Books.SetUsed(ctx, pool(rng), 0, "root", "test")
		return err
	})
	c.repeat("ask", 100*time.Millisecond, func(rng *rand.Rand) error {
		views.Pools(ctx, loop)
		views.Nodes(loop)
		forecast.New(loop).Timetable(ctx)
		_, err := forecast.New(loop).Why(ctx, 1+rng.Int64N(200), explain.WhyOptions{Estimate: true, Siblings: 3})
		return err
	})
	return &jobs
}

// calm lifts what would keep jobs from starting.
func (c *crowd) calm(ctx context.Context) {
	for _, pool := range []string{"a", "b"} {
		if _, err := c.loop.Overrides.Resume(ctx, pool, "root", "test"); err != nil && !errors.Is(err, queue.ErrNotFound) {
			c.t.Error(err)
		}
	}
	for _, node := range []string{"stays", "goes"} {
		err := c.loop.Overrides.SetDrained(ctx, node, nil, "", "")
		if err != nil && !errors.Is(err, queue.ErrNotFound) {
			c.t.Error(err)
		}
	}
	time.Sleep(10 * time.Minute)
	synctest.Wait()
}

// audit compares the jobs that ran with the submitted jobs.
func (c *crowd) audit(ctx context.Context, jobs *[]int64, ended *sync.Map) {
	for _, id := range *jobs {
		j, err := c.loop.Client().Job(ctx, id)
		if err != nil {
			c.t.Error(err)
			continue
		}
		n, ran := ended.Load(id)
		if j.State != queue.Succeeded || !ran || n.(*atomic.Int64).Load() != 1 {
			c.t.Errorf("job %d is %s; it came to its end: %v", id, j.State, ran)
		}
	}
	if r, err := c.loop.Recount(ctx); err != nil || len(r.Wrong) > 0 {
		c.t.Errorf("a recount: %v, %v", r.Wrong, err)
	}
	if running, waiting := c.loop.Running(); running+waiting > 0 {
		c.t.Errorf("%d run and %d wait at the end", running, waiting)
	}
}
