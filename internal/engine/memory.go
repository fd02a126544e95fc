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

// The types of this file are the engine's memory, which the state holds. It remembers tasks that ended, by pool, node
// and limit; the reasons for starts; the submission times of jobs; and the creators of pools.

// Lengths are the run times of each pool's latest tasks.
type Lengths map[sched.PoolID]*recent

// recent is a ring of the latest run times. It is replaced and never changed, because estimates may read it.
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

// Known returns the run times of a pool that are longer than a bound.
func (l Lengths) Known(pool sched.PoolID, bound time.Duration) []time.Duration {
	r := l[pool]
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.of[:min(r.seen, len(r.of))]), func(d time.Duration) bool { return d <= bound })
}

// How many past tasks are kept for each node: enough for a row of a chart. The number of nodes is bounded too, so that
// names that never return do not accumulate.
const (
	pastTasks = 64
	pastNodes = 8192
)

// pasts are the tasks that ended last on each node since the engine started. They are only displayed, and decide
// nothing.
type pasts map[string]*pastRuns

// pastRuns is a ring of the past tasks of one node.
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
	// End is the outcome. Its state is lost if its lease ended, and empty if it ended at another server.
	End queue.Outcome
}

// lost is the state of a past task whose lease ended.
const lost queue.State = "lost"

// short returns an outcome without the rest of a long cause.
func short(o queue.Outcome) queue.Outcome {
	o.Cause, _, _ = strings.Cut(o.Cause, "\n")
	return o
}

// note adds a task that has ended.
func (p *pasts) note(r *liveRun, units int64, ended time.Time, how queue.Outcome) {
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
	run := pastRun{taskID{r.Ref.JobID, r.Ref.Task}, r.Header.User, r.Header.Pool, units, r.Started, ended, short(how)}
	if n.Last = ended; len(n.Runs) < pastTasks {
		n.Runs = append(n.Runs, run)
		return
	}
	n.Runs[n.next] = run
	n.next = (n.next + 1) % pastTasks
}

// forgetOne removes the node on which no task has ended for the longest time.
func (p *pasts) forgetOne() {
	oldest, found := "", false
	for name, n := range *p {
		if x := (*p)[oldest]; !found || n.Last.Before(x.Last) || n.Last.Equal(x.Last) && name < oldest {
			oldest, found = name, true
		}
	}
	delete(*p, oldest)
}

// How many minutes of each limit's past are kept, and for how many limits.
const (
	LimitMinutes = 24 * 60
	limitsKept   = 256
	LimitPieces  = 120 // about as many steps as a chart has room for
)

// limitPasts is the use of licenses and rates by tasks that have ended, by minutes of the last day, since the engine
// started.
type limitPasts map[LimitKey]*LimitPast

type LimitKey struct {
	Name string
	Rate bool
}

// LimitPast is a ring of minutes, each with seconds of use, or with starts.
type LimitPast struct {
	used [LimitMinutes]float64
	peak [LimitMinutes]float64 // of a license, when tasks end
	last int64                 // the latest minute that has a value
}

// note adds the use of a task that has ended. The core still counts the task.
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

// Hold adds a use of n between two instants.
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

// Add adds n to a minute. Minutes older than a day are dropped.
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

// reach records that an amount was in use in a minute.
func (x *LimitPast) reach(minute int64, level float64) {
	x.Add(minute, 0)
	if minute > x.last-LimitMinutes {
		x.peak[minute%LimitMinutes] = max(x.peak[minute%LimitMinutes], level)
	}
}

// At returns the use in a minute, and the largest amount in use then, as far as the ends of tasks and the mean show it.
func (x *LimitPast) At(minute int64) (used, peak float64) {
	if minute > x.last || minute <= x.last-LimitMinutes {
		return 0, 0
	}
	i := minute % LimitMinutes
	return x.used[i], max(x.peak[i], x.used[i]/60)
}

// decisionsKept is the maximum number of decisions that are kept.
const decisionsKept = 10_000

// decisions keeps the numbers that decided on the latest tasks.
type decisions struct {
	byTask map[taskID]*decided
	ring   []taskID
	next   int
}

// decided is the decision for one task.
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

// AddChoice adds to the answer the comparisons that chose the latest task of the job that is still kept.
func (d *decisions) AddChoice(core *sched.Scheduler, a *why.Answer, j *queue.Job) {
	for t := min(j.Tasks, 1000) - 1; t >= 0; t-- {
		if x := d.byTask[taskID{j.ID, t}]; x != nil {
			a.Levels, a.Step, a.Units.Growth, a.Units.AsOf = x.choice(core), x.step, x.growth, x.at
			return
		}
	}
}

// choice returns the comparisons that led to a start, for a person or a program.
func (d *decided) choice(core *sched.Scheduler) []why.Level {
	var levels []why.Level
	for _, l := range d.levels {
		if l.Terms.Formula == nil {
			continue
		}
		f := l.Terms.Formula
		w := why.Level{
			Pool: core.Path(l.Pool), Policy: f.Policy, Formula: f.Text, Order: f.Order, Terms: f.Terms, Says: f.Says,
			Called: f.Called, Tied: f.Tied, You: core.Read().Name(l.Child),
			Children: []why.Child{childOf(core, l.Child, l.Terms, l.BelowMin)}, Behind: max(0, int(l.Open)-1),
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

// showPlaces handles a chosen pool that is younger than its rival with an equal key and an equal tie: then values
// decided that are not printed. It sets the rival's Fixed, so that the printed order matches.
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

// arrivals tells roughly when each waiting job was submitted, from its id alone. Ids grow with time, so one mark per
// second gives the time to the second. If there are too many marks, some are dropped: even then, the gap between two
// marks is at most a hundredth of their age.
type arrivals []arrival

type arrival struct {
	job int64
	at  time.Time
}

const (
	arrivalApart = time.Second
	arrivalsKept = 4096
)

// note adds a mark for a job, if its id is above all others and the last mark is old enough.
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

// Since returns how many seconds ago a job was submitted, too high by at most one second or 1 %. It is 0 for no job,
// and for a job before all marks.
func (a arrivals) Since(job int64, now time.Time) float64 {
	i := sort.Search(len(a), func(i int) bool { return a[i].job > job })
	if job == 0 || i == 0 {
		return 0
	}
	return max(0, now.Sub(a[i-1].at).Seconds())
}

// makers knows whose job created each pool of the store and the pools above it. It has its own lock.
type makers struct {
	mu sync.Mutex
	of map[string]string
}

// made records who created a pool and the pools above it that were created with it.
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

// upwards yields a path and the paths above it, without the root.
func upwards(path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for path != "" && yield(path) {
			path = path[:max(0, strings.LastIndexByte(path, '/'))]
		}
	}
}
