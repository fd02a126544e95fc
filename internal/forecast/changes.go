package forecast

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// Bounds of the number and the total time of the replays that search for changes with which a job starts sooner. A
// change is worth reporting if it gains a minute and a twentieth of the remaining time.
const (
	maxChanges  = 6
	changesTime = 50 * time.Millisecond
	changesGain = time.Minute
	changesPart = 20
	// shortestLimit is the shortest time limit that is tried.
	shortestLimit = 10 * time.Second
)

// alternativesOf copies the alternatives of a job from the state.
func alternativesOf(st *engine.State, j *queue.Job, a *why.Answer) *alternatives {
	h := engine.HeaderOf(j)
	x := &alternatives{of: j, own: st.JobOf(h), asks: st.AskOf(h), unit: st.Core.Cluster().Unit(),
		everyone: st.Shares.Sched.Backfill == sched.Conservative}
	x.own.Tasks, x.own.Begin = j.Waiting, j.Begin
	for _, g := range a.Gates {
		if g.Code == why.GateBegin { // another request would not end the pause before its next attempt
			x.own.Begin = *g.Next
		}
	}
	owner := &access.Principal{Kind: access.User, Name: j.User, Groups: []string{j.Group}}
	own := "/" + share.UserPool(j.User)
	for id := range st.Core.Read().Pools() {
		if len(x.pools) == 2 {
			break
		}
		if st.Core.Read().Name(sched.PoolID(id)) != own[1:] {
			continue
		}
		path := st.Core.Path(sched.PoolID(id))
		if path == j.Pool || !strings.HasSuffix(path, own) || st.Core.Read().PriorityClass(sched.PoolID(id)) ||
			len(st.Core.Read().Children(sched.PoolID(id))) > 0 {
			continue
		}
		next := Variation{Pool: &path}
		n := poolpath.Naming(st.Core, owner)
		if other := next.apply(j); st.Shares.Settle(&other, n) == nil && other.Pool == path {
			s := x.own
			s.Pool = sched.PoolID(id)
			x.pools, x.paths = append(x.pools, s), append(x.paths, path)
		}
	}
	known := st.Shares.Sched.Priorities
	behindOwn := slices.ContainsFunc(a.Ahead, func(p why.Ahead) bool { return p.Own })
	if p, ok := st.Shares.Priority(j.Priority); ok && p > 0 && behindOwn {
		x.higher, x.raised = x.own, known[p-1].Name
		x.higher.Priority = p - 1
	}
	return x
}

// probing tries one change after another.
type probing struct {
	*estimator
	*alternatives
	by      time.Time        // when the unchanged job starts; zero: unknown
	gone    *sched.Scheduler // without the job
	kept    *sched.Scheduler // with the kept room that is in the job's way; see room
	left    int
	until   time.Time
	changes []why.Change
	copy    *sched.Room // of the scheduler of one change after another
}

// advise adds to an answer the changes that would make its job start sooner, and which of them helps most.
func (e *estimator) advise(a *why.Answer) {
	p := &probing{estimator: e, alternatives: e.others, left: maxChanges}
	if e.others == nil || a.Start == nil {
		return
	}
	if a.Start.By != nil {
		if p.by = *a.Start.By; p.by.Sub(e.began) < changesGain {
			return
		}
	}
	a.Changes = p.all()
	a.Advice = advice(a.Changes, p.tried())
}

// tried names the kinds of changes that were tried; none if the bounds of the search ended it.
func (p *probing) tried() []string {
	if p.left == 0 || !time.Now().Before(p.until) {
		return nil
	}
	kinds := []string{"a shorter time limit", "a smaller request"}
	if p.own.Limit <= 0 {
		kinds[0] = "a time limit"
	}
	if len(p.pools) > 0 {
		kinds = append(kinds, "another pool of its user")
	}
	if p.raised != "" {
		kinds = append(kinds, "a higher priority")
	}
	return kinds
}

// all returns the changes that would make the job start sooner.
func (p *probing) all() []why.Change {
	e := p.estimator
	p.gone, p.copy = e.future.Fork(e.rooms.room()), e.rooms.room()
	p.gone.Withdraw(p.own, e.began)
	p.gone.Rest()
	p.until = time.Now().Add(e.timeout(changesTime))
	p.shorter()
	p.smaller()
	for i, s := range p.pools {
		p.try(p.moved(), s, why.Change{Flags: "--move-to " + p.paths[i], Pool: p.paths[i], Alter: true})
	}
	if p.raised != "" {
		p.try(nil, p.higher, why.Change{Flags: "--priority " + p.raised, Priority: p.raised, Alter: true})
	}
	return p.changes
}

// room returns a fork with the kept room that is in the job's way. It is created on demand, because nobody needs it if
// a task finds no room even without kept room.
func (p *probing) room() *sched.Scheduler {
	switch {
	case p.kept != nil:
	case p.everyone:
		p.kept = p.gone
	default:
		// The core keeps room for one job, and only if that room hinders another job. So add a copy of the job.
		s := p.own
		s.ID, s.Submitted = trialID, p.began
		p.kept = p.gone.ForkIn(p.rooms.room())
		p.kept.Add(s, p.began)
		p.kept.Rest()
	}
	return p.kept
}

// opens reports whether a task would find room now.
func (p *probing) opens(key cluster.Key) bool {
	return p.gone.Read().Opening(key, p.own.Limit) && p.room().Read().Opening(key, p.own.Limit)
}

// moved returns a fork without the job, to which the caller adds the job in another pool.
func (p *probing) moved() *sched.Scheduler {
	f := p.future.Fork(p.copy)
	f.Withdraw(p.own, p.began)
	return f
}

// try computes when job s would start. It adds s to the argument "without", a scheduler that no longer has the original
// job. If that is nil, s replaces the original job. It keeps the change if the job would start sooner.
func (p *probing) try(without *sched.Scheduler, s sched.Job, c why.Change) {
	if p.left == 0 || !time.Now().Before(p.until) {
		return
	}
	p.left--
	if !c.Alter {
		s.ID, s.Submitted = trialID, p.began
	}
	f := without
	switch {
	case f == nil:
		f = p.future.Fork(p.copy)
		f.Exchange(p.own, []sched.Job{s}, p.began)
	case c.Alter:
		f.Add(s, p.began)
	default:
		f = without.ForkIn(p.copy)
		f.Add(s, p.began)
	}
	goOn := func(sched.Forecast) bool { return time.Now().Before(p.until) }
	unlimited := false
	got := f.AsFuture(nil).Once().Forecast(s.ID, goOn, func(t sched.Task) time.Time {
		unlimited = unlimited || t.Limit <= 0
		return t.Started.Add(limitOr(t, sched.NoLimit))
	})
	if unsure := unlimited && !got.InTurn && got.At.After(p.began); !got.Found || unsure ||
		got.At.After(p.began.Add(sched.NoLimit/2)) {
		return
	}
	if left := p.by.Sub(p.began); !p.by.IsZero() {
		if p.by.Sub(got.At) < max(changesGain, left/changesPart) {
			return
		}
		c.Seconds = p.by.Sub(got.At).Seconds()
	}
	c.By, c.Now = got.At, !got.At.After(p.began)
	p.changes = append(p.changes, c)
}

// shorter tries the longest time limit with which the job would find room now, unless it finds room with its present
// limit.
func (p *probing) shorter() {
	if p.gone.Read().Window(p.own.Key, p.own.Limit) < shortestLimit {
		return
	}
	long := p.room().Read().Window(p.own.Key, p.own.Limit)
	if long < shortestLimit || p.opens(p.own.Key) {
		return
	}
	s := p.own
	s.Limit = long
	c, without := shorterChange(p.room(), p.own, long), p.gone
	if p.of.ID != trialID && p.of.Running == 0 { // the limit of a job that has not started can be changed in place
		c.Flags, c.Alter, without = "--time"+strings.TrimPrefix(c.Flags, "-t"), true, nil
	}
	p.try(without, s, c)
}

// shorterChange returns the change to a shorter time limit that finds room now.
func shorterChange(core *sched.Scheduler, j sched.Job, long time.Duration) why.Change {
	unit := time.Minute
	if long < 2*unit {
		unit = time.Second
	}
	c := why.Change{Flags: "-t " + units.FormatDuration(long.Truncate(unit)) + " or less",
		LimitSeconds: long.Seconds()}
	j.ID = trialID
	if kept := core.GateView().InTheWay(j); kept != nil {
		c.Text = fmt.Sprintf("ends before job %d needs its room at %s", kept.Job,
			instant.Text(kept.From))
	}
	return c
}

// smaller tries a smaller request of each resource: the largest amount with which the job would find room now. If
// there is none, it tries half of the present request of the unit of shares.
func (p *probing) smaller() {
	for _, name := range slices.Sorted(maps.Keys(p.of.Request)) {
		need := p.of.Request[name]
		fits, not := int64(0), need
		for not-fits > 1 {
			if mid := fits + (not-fits)/2; p.opens(p.keyWith(name, mid)) {
				fits = mid
			} else {
				not = mid
			}
		}
		if fits == 0 && name == p.unit {
			fits = need / 2
		}
		if fits > 0 {
			p.less(name, fits)
		}
	}
}

// less tries a smaller request of one resource.
func (p *probing) less(name string, n int64) {
	s := p.own
	s.Key = p.keyWith(name, n)
	flag := "--request " + name + "="
	switch {
	case name == "cpu":
		flag = "-c "
	case name == "mem":
		n = max(1, n>>20) << 20 // whole megabytes, as users write it
		s.Key = p.keyWith(name, n)
		flag = "--mem "
	case name == "gpu":
		flag = "-G "
	case strings.HasPrefix(name, "gpu:"):
		flag = "-G " + strings.TrimPrefix(name, "gpu:") + ":"
	}
	p.try(p.gone, s, why.Change{Flags: flag + units.Quantity(name, n), Request: map[string]int64{name: n}})
}

// keyWith returns the scheduling key of the job with another amount of a resource.
func (p *probing) keyWith(name string, n int64) cluster.Key {
	ask := p.asks
	ask.Amounts = maps.Clone(ask.Amounts)
	ask.Amounts[name] = n
	key := p.gone.KeyOf(ask)
	if p.kept != nil {
		p.kept.KeyOf(ask) // the number is the same in both
	}
	return key
}
