package engine

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// The types of this file are what a loop remembers: tasks that ended, by pool, node and limit; why it chose
// tasks; when jobs came; who made the pools. The state holds them.

// Lengths are how long tasks of each pool ran lately.
type Lengths map[sched.PoolID]*recent

// recent holds the last so many. It is not changed but replaced, as estimates may read it.
type recent struct {
	of   [24]time.Duration
	seen int
}

func (l Lengths) Note(pool sched.PoolID, d time.Duration) {
	var next recent
	if r := l[pool]; r != nil {
		next = *r
	}
	next.of[next.seen%len(next.of)] = d
	next.seen++
	l[pool] = &next
}

// Known are those of a pool that are longer than a time.
func (l Lengths) Known(pool sched.PoolID, than time.Duration) []time.Duration {
	r := l[pool]
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.of[:min(r.seen, len(r.of))]), func(d time.Duration) bool { return d <= than })
}

// How many past tasks of nodes are remembered: enough for a row of a chart, and a bounded number of nodes, so
// that names which never come back do not add up.
const (
	pastTasks = 64
	pastNodes = 8192
)

// pasts are the tasks that ended last on each node, for as long as the loop lives. It is there to be
// looked at and decides nothing.
type pasts map[string]*pastRuns

// pastRuns are those of one node, in a ring.
type pastRuns struct {
	Runs []pastRun
	next int
	Last time.Time // when the latest of them ended
}

type pastRun struct {
	ID             taskID
	User, Pool     string
	Units          int64
	Started, Ended time.Time
}

// note remembers a task that has ended.
func (p *pasts) note(r *liveRun, units int64, ended time.Time) {
	if r.Queued {
		return // it never began
	}
	if *p == nil {
		*p = pasts{}
	}
	n := (*p)[r.Holder]
	if n == nil {
		if len(*p) >= pastNodes {
			p.forgetOne()
		}
		n = &pastRuns{}
		(*p)[r.Holder] = n
	}
	run := pastRun{taskID{r.Ref.JobID, r.Ref.Task}, r.Header.User, r.Header.Pool, units, r.Started, ended}
	if n.Last = ended; len(n.Runs) < pastTasks {
		n.Runs = append(n.Runs, run)
		return
	}
	n.Runs[n.next] = run
	n.next = (n.next + 1) % pastTasks
}

// forgetOne forgets the node on which nothing has ended for longest.
func (p *pasts) forgetOne() {
	oldest, found := "", false
	for name, n := range *p {
		if x := (*p)[oldest]; !found || n.Last.Before(x.Last) || n.Last.Equal(x.Last) && name < oldest {
			oldest, found = name, true
		}
	}
	delete(*p, oldest)
}

// How much is kept of the past of limits, in minutes, and of how many limits.
const (
	LimitMinutes = 24 * 60
	limitsKept   = 256
	LimitPieces  = 120 // about as many steps as a picture has room for
)

// limitPasts is what tasks that have ended used of licences and rates, by minutes of the last day, for as
// long as the loop lives.
type limitPasts map[LimitKey]*LimitPast

type LimitKey struct {
	Name string
	Rate bool
}

// LimitPast is a ring of minutes: seconds of use, or starts.
type LimitPast struct {
	used [LimitMinutes]float64
	peak [LimitMinutes]float64 // of a license, at the ends of tasks
	last int64                 // the latest minute that has a value
}

// note remembers the use of a task that has ended. The core still counts it in.
func (p *limitPasts) note(core *sched.Scheduler, r *liveRun, ended time.Time) {
	if r.Queued {
		return
	}
	for name, n := range r.Header.Licenses {
		if x := p.of(LimitKey{name, false}); x != nil {
			x.Hold(r.Started, ended, float64(n))
		}
	}
	if len(r.Header.Licenses) > 0 {
		for _, h := range core.Read().HeldBy(r.run) {
			name, license := strings.CutPrefix(h.Of, "license ")
			if x := (*p)[LimitKey{name, false}]; license && x != nil {
				x.reach(ended.Unix()/60, float64(h.Now))
			}
		}
	}
	for _, name := range r.Header.Rates {
		if x := p.of(LimitKey{name, true}); x != nil {
			x.Add(r.Started.Unix()/60, 1)
		}
	}
}

func (p *limitPasts) of(k LimitKey) *LimitPast {
	if *p == nil {
		*p = limitPasts{}
	}
	x := (*p)[k]
	if x == nil && len(*p) < limitsKept {
		x = &LimitPast{}
		(*p)[k] = x
	}
	return x
}

// Hold adds a use from an instant until another.
func (x *LimitPast) Hold(from, until time.Time, n float64) {
	if day := until.Add(-LimitMinutes * time.Minute); from.Before(day) {
		from = day
	}
	for from.Before(until) {
		next := from.Truncate(time.Minute).Add(time.Minute)
		if next.After(until) {
			next = until
		}
		x.Add(from.Unix()/60, n*next.Sub(from).Seconds())
		from = next
	}
}

// Add adds to a minute. What is older than a day is forgotten.
func (x *LimitPast) Add(minute int64, n float64) {
	if minute <= x.last-LimitMinutes {
		return
	}
	for ; x.last < minute; x.last++ {
		if minute-x.last > LimitMinutes {
			x.last = minute - LimitMinutes
		}
		x.used[(x.last+1)%LimitMinutes], x.peak[(x.last+1)%LimitMinutes] = 0, 0
	}
	x.used[minute%LimitMinutes] += n
}

// reach notes that an amount was in use in a minute.
func (x *LimitPast) reach(minute int64, level float64) {
	x.Add(minute, 0)
	if minute > x.last-LimitMinutes {
		x.peak[minute%LimitMinutes] = max(x.peak[minute%LimitMinutes], level)
	}
}

// At is the use in a minute, and the largest amount in use then, as far as it is known from the ends of tasks and
// from the mean.
func (x *LimitPast) At(minute int64) (used, peak float64) {
	if minute > x.last || minute <= x.last-LimitMinutes {
		return 0, 0
	}
	i := minute % LimitMinutes
	return x.used[i], max(x.peak[i], x.used[i]/60)
}

// decisionsKept bounds how many decisions are remembered.
const decisionsKept = 10_000

// decisions remembers the numbers that decided on the latest tasks.
type decisions struct {
	byTask map[taskID]*decided
	ring   []taskID
	next   int
}

// decided is the choice of one task.
type decided struct {
	at      time.Time
	attempt int
	step    uint64
	growth  float64
	levels  []sched.Level
}

func (d *decisions) add(core *sched.Scheduler, l *queue.Lease, levels []sched.Level) {
	if d.byTask == nil {
		d.byTask = map[taskID]*decided{}
	}
	id := taskID{l.JobID, l.Task}
	if len(d.ring) < decisionsKept {
		d.ring = append(d.ring, id)
	} else {
		delete(d.byTask, d.ring[d.next])
		d.ring[d.next] = id
		d.next = (d.next + 1) % decisionsKept
	}
	d.byTask[id] = &decided{at: l.Started, attempt: l.Attempt, step: core.Read().Steps(), growth: core.Read().Now().Growth, levels: levels}
}

// AddChoice adds the comparisons that chose the job's latest remembered task.
func (d *decisions) AddChoice(core *sched.Scheduler, a *why.Answer, j *queue.Job) {
	for t := min(j.Tasks, 1000) - 1; t >= 0; t-- {
		if x := d.byTask[taskID{j.ID, t}]; x != nil {
			a.Levels, a.Step, a.Units.Growth, a.Units.AsOf = x.choice(core), x.step, x.growth, x.at
			return
		}
	}
}

// choice tells the comparisons that led to a start, for a person or a program.
func (d *decided) choice(core *sched.Scheduler) []why.Level {
	var levels []why.Level
	for _, l := range d.levels {
		if l.Terms.Formula == nil {
			continue
		}
		f := l.Terms.Formula
		w := why.Level{
			Pool: core.Path(l.Pool), Policy: f.Policy, Formula: f.Text, Order: f.Order, Terms: f.Terms, Says: f.Says,
			Tied: f.Tied, You: core.Read().Name(l.Child), Children: []why.Child{childOf(core, l.Child, l.Terms, l.BelowMin)},
			Behind: max(0, int(l.Open)-1),
		}
		if l.Rival != sched.Root {
			w.Children = append(w.Children, childOf(core, l.Rival, l.RivalTerms, l.BelowMin))
			showPlaces(w.Children, l.Terms.Fixed != l.RivalTerms.Fixed)
			w.Behind--
		}
		levels = append(levels, w)
	}
	return levels
}

// showPlaces writes down the places of the chosen child and its rival where their keys and ties are
// equal and the chosen one is the younger pool: what the keys are computed from decided then.
func showPlaces(pair []why.Child, differ bool) {
	chosen, rival := &pair[0], &pair[1]
	if differ && chosen.Key == rival.Key && chosen.Tie == rival.Tie && chosen.Number > rival.Number {
		rival.Fixed = 1
	}
}

func childOf(core *sched.Scheduler, id sched.PoolID, t why.Terms, needy bool) why.Child {
	c := why.Child{
		Name: core.Read().Name(id), Terms: map[string]why.Number{}, Key: why.Number(t.Formula.Result(t.Key)),
		Tie:    why.Number(t.Tie),
		Number: int32(id), BelowMin: needy, Open: true,
	}
	if t.Resource > 0 {
		c.Resource = core.Cluster().Resource(int(t.Resource) - 1)
	}
	for i, term := range t.Formula.Terms {
		c.Terms[term.Name] = why.Number(t.Values[i])
	}
	return c
}

// arrivals knows about when each waiting job was submitted, from its id alone: ids grow
// with time, so marks of one job in each second tell it to the second. When there are too
// many of them, they are thinned out to one in each hundredth of their age.
type arrivals []arrival

type arrival struct {
	job int64
	at  time.Time
}

const (
	arrivalApart = time.Second
	arrivalsKept = 4096
)

// note marks a job, if its id is above all others and the last mark some time ago.
func (a *arrivals) note(h queue.Header) {
	if n := len(*a); n > 0 {
		if last := (*a)[n-1]; h.ID <= last.job || h.Submitted.Sub(last.at) < arrivalApart {
			return
		}
	}
	*a = append(*a, arrival{h.ID, h.Submitted})
	if len(*a) <= arrivalsKept {
		return
	}
	kept, newest := (*a)[:1], (*a)[len(*a)-1].at
	for i := 1; i+1 < len(*a); i++ {
		next := (*a)[i+1].at
		if next.Sub(kept[len(kept)-1].at) > newest.Sub(next)/100 {
			kept = append(kept, (*a)[i])
		}
	}
	*a = append(kept, (*a)[len(*a)-1])
}

// Since is how long a job has waited since it was submitted, in seconds, at most by a
// second or a hundredth too long. It is 0 for no job, and for one from before all marks.
func (a arrivals) Since(job int64, now time.Time) float64 {
	i := sort.Search(len(a), func(i int) bool { return a[i].job > job })
	if job == 0 || i == 0 {
		return 0
	}
	return max(0, now.Sub(a[i-1].at).Seconds())
}

// makers knows by whose job each pool of the store was made, those above it included. It has a lock of its own.
type makers struct {
	mu sync.Mutex
	of map[string]string
}

// made notes whose a pool is, and those above it that were made with it.
func (m *makers) made(path, maker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := range upwards(path) {
		if _, known := m.of[p]; known {
			return
		}
		m.of[p] = maker
	}
}

// upwards are a path and those above it, without the root.
func upwards(path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for path != "" && yield(path) {
			path = path[:max(0, strings.LastIndexByte(path, '/'))]
		}
	}
}
