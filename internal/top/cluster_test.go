package top

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// cluster is a fake server: two sponsors, four users, five nodes.
type cluster struct {
	mu     sync.Mutex
	start  time.Time
	pools  []views.PoolView
	list   []api.Job
	nodes  []views.NodeView
	wrong  []api.HealthCheck
	away   error         // the error of every answer
	slow   time.Duration // delay of every answer
	asked  int           // requests for shares
	many   bool          // more jobs than a list holds
	boosts []api.BoostRequest
	events chan api.Event
}

func newCluster() *cluster {
	c := &cluster{start: time.Now(), events: make(chan api.Event)}
	pool := func(path string, share, here, used, running, want, weight, owed, oldest float64) {
		v := views.PoolView{Path: path, Share: share, ShareHere: here, UsedHere: used, Running: running, Want: want,
			Weight: weight, BaseWeight: weight, OldestWait: oldest, Policy: "fair"}
		v.Fairness.Day.Ideal, v.Fairness.Day.Served = owed, 1
		if owed > 0 {
			v.Fairness.Day.Served = 0.82
		}
		if want > running {
			v.Compared = &views.Compared{Policy: "fair", Text: "key " + why.Short(1000*used/weight)}
		}
		if path != "" {
			v.Depth = 1 + strings.Count(path, "/")
		}
		c.pools = append(c.pools, v)
	}
	pool("", 1, 1, 1, 48, 124, 1, 0, 2460)
	pool("physics", 0.6, 0.6, 0.72, 24, 60, 3, -432000, 60)
	pool("physics/markov", 0.3, 0.5, 0.833, 24, 36, 1, -864000, 60)
	pool("physics/curie", 0.3, 0.5, 0.167, 0, 24, 1, 432000, 31)
	pool("biology", 0.4, 0.4, 0.28, 24, 64, 2, 432000, 2460)
	pool("biology/env", 0.2, 0.5, 0.4, 8, 16, 1, 80000, 720)
	pool("biology/epi", 0.2, 0.5, 0.6, 16, 48, 1, -80000, 2460)
	job := func(id int64, user, pool, name string, cpu int64, limit, age time.Duration, state string, rank int64,
		reason string) {
		j := api.Job{ID: id, User: user, State: state, Tasks: 1, Submitted: c.start.Add(-age), Rank: rank}
		j.Pool, j.Name, j.Request, j.LimitSeconds = pool, name, map[string]int64{"cpu": cpu}, limit.Seconds()
		if state == "running" {
			since := j.Submitted.Add(time.Minute)
			j.Running, j.RunsSince = 1, &since
		} else {
			by := c.start.Add(time.Duration(rank) * time.Hour)
			j.Waiting, j.Reason, j.StartBy = 1, &api.Reason{Code: "share.behind", Text: reason}, &by
		}
		c.list = append(c.list, j)
	}
	job(1029, "markov", "physics/markov", "neutro1", 8, 6*time.Hour, 5*time.Hour, "running", 0, "")
	job(1030, "markov", "physics/markov", "neutro2", 16, 6*time.Hour, 5*time.Hour, "running", 0, "")
	job(1031, "mendle", "biology/epi", "denovo0", 16, 4*time.Hour, 3*time.Hour, "running", 0, "")
	job(1035, "julie", "biology/env", "biodiv0", 8, 5*time.Hour, 2*time.Hour, "running", 0, "")
	job(1037, "mendle", "biology/epi", "denovo", 32, 4*time.Hour, 41*time.Minute, "waiting", 2,
		"32 cpu; 16 free, kept for it")
	job(1040, "julie", "biology/env", "biodiv", 8, time.Hour, 12*time.Minute, "waiting", 1, "license matlab 5/5 used")
	job(1042, "markov", "physics/markov", "neutro3", 12, 2*time.Hour, time.Minute, "waiting", 4,
		"physics is over its share (72.0 of 60.0%)")
	job(1044, "curie", "physics/curie", "fit", 24, time.Hour, 31*time.Second, "waiting", 3, "24 cpu; behind 2")
	for i, free := range []int64{0, 0, 0, 16, 16} {
		n := views.NodeView{Name: fmt.Sprint("n", i+1), State: "up", Tasks: 1,
			Capacity: queue.Amounts{"cpu": 16, "mem": 512 << 30}, Free: queue.Amounts{"cpu": free,
				"mem": 492 << 30}, Version: "0.3.1", Seen: c.start.Add(-time.Second)}
		if i == 4 {
			n.State, n.Why = "drain", "fan (by alice)"
		}
		c.nodes = append(c.nodes, n)
	}
	return c
}

func (c *cluster) summary() api.Summary {
	last := time.Now().Add(-400 * time.Millisecond)
	started := uint64(1000 + 8*time.Since(c.start).Seconds())
	return api.Summary{Waiting: 4, Running: 4, Unit: "cpu", Capacity: map[string]int64{"cpu": 64},
		Free: map[string]int64{"cpu": 16}, LastStep: &last, Started: started}
}

// answer begins every answer.
func (c *cluster) answer(ctx context.Context) (unlock func(), err error) {
	c.mu.Lock()
	slow, err := c.slow, c.away
	c.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	c.mu.Lock()
	return c.mu.Unlock, err
}

func (c *cluster) Shares(ctx context.Context, pool string) (*api.Shares, error) {
	unlock, err := c.answer(ctx)
	defer unlock()
	c.asked++
	doc := &api.Shares{At: time.Now(), Unit: "cpu", Summary: c.summary()}
	doc.Fairness.Day = views.FairnessWhole{Seconds: 86400, Jain: 0.94, Served: 0.91, Worst: "biology",
		WorstServed: 0.82}
	for _, p := range c.pools {
		if pool == "" || share.Inside(p.Path, pool) {
			doc.Pools = append(doc.Pools, p)
		}
	}
	if len(doc.Pools) == 0 && err == nil {
		err = fmt.Errorf("pool %q: %w", pool, queue.ErrNotFound)
	}
	return doc, err
}

func (c *cluster) Jobs(ctx context.Context, q url.Values) (*api.JobList, error) {
	unlock, err := c.answer(ctx)
	defer unlock()
	list := &api.JobList{At: time.Now(), Summary: c.summary(), More: c.many && !q.Has("next")}
	for _, j := range c.list {
		if pool := q.Get("pool"); pool == "" || share.Inside(j.Pool, pool) {
			if j.Reason != nil {
				reason := *j.Reason
				j.Reason = &reason
			}
			list.Jobs = append(list.Jobs, j)
		}
	}
	return list, err
}

func (c *cluster) Nodes(ctx context.Context) (*api.Nodes, error) {
	unlock, err := c.answer(ctx)
	defer unlock()
	return &api.Nodes{At: time.Now(), Unit: "cpu", Nodes: slices.Clone(c.nodes)}, err
}

func (c *cluster) Limits(ctx context.Context) (*api.Limits, error) {
	unlock, err := c.answer(ctx)
	defer unlock()
	return &api.Limits{Licenses: []engine.LicenseView{{Name: "matlab", Total: 5, Used: 5}}}, err
}

func (c *cluster) Health(ctx context.Context) (*api.Diagnosis, error) {
	unlock, err := c.answer(ctx)
	defer unlock()
	return &api.Diagnosis{Checks: c.wrong}, err
}

func (c *cluster) Why(ctx context.Context, id int64, _ explain.WhyOptions) (*why.Answer, error) {
	unlock, err := c.answer(ctx)
	defer unlock()
	for _, j := range c.list {
		if j.ID == id {
			a := &why.Answer{At: time.Now(), Subject: why.Subject{Job: j.ID, User: j.User, Pool: j.Pool, Name: j.Name,
				State: j.State}, Verdict: why.AsDesigned}
			a.Reason.Code = why.ShareBehind
			a.Reason.Text = "its turn has not come: " + reasonOf(j.Reason)
			return a, err
		}
	}
	return nil, fmt.Errorf("job %d: %w", id, queue.ErrNotFound)
}

func reasonOf(r *api.Reason) string {
	if r == nil {
		return "it runs"
	}
	return r.Text
}

func (c *cluster) WhyPool(ctx context.Context, pool string) (*why.Answer, error) {
	unlock, err := c.answer(ctx)
	defer unlock()
	a := &why.Answer{At: time.Now(), Subject: why.Subject{Pool: pool}, Verdict: why.AsDesigned}
	a.Reason.Code = why.ShareBehind
	a.Reason.Text = strings.Repeat("it has what it is entitled to, and its jobs wait for room; ", 6)
	return a, err
}

func (c *cluster) Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error) {
	unlock, err := c.answer(ctx)
	defer unlock()
	c.boosts = append(c.boosts, r)
	out := &api.BoostResponse{Boost: engine.Boost{ID: 3, Pool: r.Pool, Factor: r.Factor},
		Weight: api.Change{Old: 2, New: 2 * r.Factor}, Share: api.Change{Old: 0.4, New: 0.571}}
	return out, err
}

func (c *cluster) Events(ctx context.Context, _ url.Values, f func(api.Event) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-c.events:
			if err := f(e); err != nil {
				return err
			}
		}
	}
}

// change changes the cluster, and sends an event.
func (c *cluster) change(f func()) {
	c.mu.Lock()
	f()
	c.mu.Unlock()
	c.events <- api.Event{Code: "ended"}
}
