package explain

import (
	"time"

	"github.com/fairlead/fairlead/sched"
)

// Order is the order in which waiting jobs would start if room came slot by slot.
type Order struct {
	At time.Time
	// Position is the place of each job's next task, from 1, as far as the preview
	// went.
	Position map[int64]int64

	core   *sched.Scheduler // whose pools it is about
	then   *sched.Scheduler // a copy of it, as it was at that instant; used while the state may be
	of     uint64           // version of the state
	config string           // hash of the shares in force
	Starts []orderedStart
	Labels []label // of the pools of these, by number
	Whole  bool    // there is nothing that starts later
}

// Add adds the next start.
func (o *Order) Add(s sched.Start, units float64) {
	_, known := o.Position[s.Job]
	o.Starts = append(o.Starts, orderedStart{s.Job, s.Pool, float32(units), !known})
	if !known {
		o.Position[s.Job] = int64(len(o.Starts))
	}
}

// label is what a pool is called that holds waiting jobs.
type label struct {
	Path     string
	priority string // of its jobs, where its leaf has jobs of several
}

// Name notes the labels of the pools, so that nobody has to ask the scheduler for them.
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

// labeller is a scheduler, or an outlook of one.
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
	First bool // of its job
}

// After returns up to n jobs whose next tasks have a place behind the given one, in the order of
// their places, and these.
func (o *Order) After(place int64, n int) (jobs, places []int64) {
	for i := max(0, place); i < int64(len(o.Starts)) && len(jobs) < n; i++ {
		if s := o.Starts[i]; s.First {
			jobs, places = append(jobs, s.Job), append(places, i+1)
		}
	}
	return jobs, places
}

// OrderTasks bounds how far the order under another configuration is previewed.
const OrderTasks = 20_000

// previewTasks bounds how many starts are previewed to find the place of a job.
const previewTasks = 100_000
