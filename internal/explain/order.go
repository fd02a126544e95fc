package explain

import (
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Order is the order in which waiting jobs would start if room became free slot by slot.
type Order struct {
	At time.Time
	// Position is the place of each job's next task, from 1, as far as the preview went.
	Position map[int64]int64

	core   *sched.Scheduler // the scheduler that made the preview
	then   *sched.Scheduler // a copy of it at the instant At; used under the state's lock
	of     uint64           // version of the state
	config string           // hash of the current shares
	Starts []orderedStart
	Labels []label // of the pools of Starts, by pool number
	Whole  bool    // no further tasks start after those of Starts
	firsts []int64 // by pool number: the place of its first task, 0 if it has none
}

// Add adds the next start.
func (o *Order) Add(s sched.Start, units float64) {
	_, known := o.Position[s.Job]
	o.Starts = append(o.Starts, orderedStart{s.Job, s.Pool, float32(units), !known})
	if !known {
		o.Position[s.Job] = int64(len(o.Starts))
	}
	for int(s.Pool) >= len(o.firsts) {
		o.firsts = append(o.firsts, 0)
	}
	if o.firsts[s.Pool] == 0 {
		o.firsts[s.Pool] = int64(len(o.Starts))
	}
}

// firstBeside is the place of the first task of a leaf pool. If the leaf pool holds only the jobs of one priority of
// a pool, firstBeside is the place of the first task of the whole pool. It is 0 if the order has no such task.
func (o *Order) firstBeside(core *sched.Scheduler, leaf sched.PoolID) int64 {
	first := o.firstIn(leaf)
	if !core.Read().PriorityClass(leaf) {
		return first
	}
	for _, id := range core.Read().Children(core.Read().Parent(leaf)) {
		if at := o.firstIn(id); first == 0 || at > 0 && at < first {
			first = at
		}
	}
	return first
}

// firstIn is the place of the first task of a leaf pool, 0 if the order has none.
func (o *Order) firstIn(leaf sched.PoolID) int64 {
	if int(leaf) >= len(o.firsts) {
		return 0
	}
	return o.firsts[leaf]
}

// label is the display name of a pool with waiting jobs.
type label struct {
	Path     string
	priority string // of its jobs, if the pool has jobs of several priorities
}

// Name stores the labels of the pools, so that readers need not ask the scheduler for them.
func (o *Order) Name(of labeller) {
	for _, s := range o.Starts {
		for int(s.Pool) >= len(o.Labels) {
			o.Labels = append(o.Labels, label{})
		}
		if o.Labels[s.Pool].Path == "" {
			o.Labels[s.Pool] = labelIn(of, s.Pool)
		}
	}
}

// labeller is a [sched.Scheduler] or a [sched.Outlook].
type labeller interface {
	Path(sched.PoolID) string
	PriorityOf(sched.PoolID) string
}

func labelIn(of labeller, id sched.PoolID) label { return label{of.Path(id), of.PriorityOf(id)} }

// orderedStart is one task in the order.
type orderedStart struct {
	Job   int64
	Pool  sched.PoolID
	units float32
	First bool // it is the first task of its job in the order
}

// After returns up to n jobs whose next tasks have a place after the given one, in order, and their places. They are
// the jobs of a pool and the pools below it, or of all pools if the argument "pool" is empty.
func (o *Order) After(pool string, place int64, n int) (jobs, places []int64) {
	for i := max(0, place); i < int64(len(o.Starts)) && len(jobs) < n; i++ {
		if s := o.Starts[i]; s.First && o.in(s, pool) {
			jobs, places = append(jobs, s.Job), append(places, i+1)
		}
	}
	return jobs, places
}

// Place returns the place of a job's next task, or 0 if the order does not have it in this pool or the pools below it.
func (o *Order) Place(pool string, job int64) int64 {
	at := o.Position[job]
	if at == 0 || !o.in(o.Starts[at-1], pool) {
		return 0
	}
	return at
}

// in reports whether a start is in a pool or the pools below it. The empty pool means all pools.
func (o *Order) in(s orderedStart, pool string) bool {
	return pool == "" || share.Inside(o.Labels[s.Pool].Path, pool)
}

// OrderTasks is the number of starts that are previewed under another configuration.
const OrderTasks = 20_000

// previewTasks is the number of starts that are previewed to find the place of a job.
const previewTasks = 100_000
