package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// check completes a reservation and refuses an impossible one. It returns the running tasks that may overrun its
// beginning.
func (r *Reservation) check(s *State, o ReserveOptions, now time.Time) ([]Overrun, error) {
	switch {
	case r.From.IsZero():
		return nil, queue.Invalidf("start", "is missing: give the time when the reservation begins, such as 2d or 16:00")
	case r.Until.IsZero():
		return nil, queue.Invalidf("duration", "is missing: give the length of the reservation")
	case !r.Until.After(r.From):
		return nil, queue.Invalidf("duration", "the reservation begins at %s, and has to end after that",
			instant.Text(r.From))
	case !r.Until.After(now):
		return nil, queue.Invalidf("start", "the reservation would have ended already, at %s", instant.Text(r.Until))
	case r.Maintenance && len(r.Pools)+len(r.Users) > 0:
		return nil, queue.Invalidf("maintenance",
			"nobody may use nodes in maintenance: leave out maintenance, or the pools and users")
	case !r.Maintenance && len(r.Pools)+len(r.Users) == 0:
		return nil, queue.Invalidf("pool", "name the pools or users that may use the reservation, or reserve for maintenance")
	}
	if err := r.chooseNodes(s, o); err != nil {
		return nil, err
	}
	if err := s.InForce.checkOverlap(r); err != nil {
		return nil, err
	}
	over := r.overruns(s, now)
	if len(over) > 0 && !o.Force && !o.DryRun {
		return over, &OverrunError{r.Name, over}
	}
	return over, nil
}

// chooseNodes checks the named nodes, or chooses as many nodes as requested.
func (r *Reservation) chooseNodes(s *State, o ReserveOptions) error {
	c := s.Core.Cluster()
	if o.Count == 0 {
		if len(r.Nodes) == 0 {
			return queue.Invalidf("nodes", "are missing: name them, or give their number")
		}
		for _, name := range r.Nodes {
			if _, known := c.Lookup(name); !known {
				return queue.Invalidf("nodes", "there is no node %q", name)
			}
		}
		slices.Sort(r.Nodes)
		r.Nodes = slices.Compact(r.Nodes)
		return nil
	}
	must, err := cluster.ParseConstraint(o.Constraint)
	if err != nil {
		return queue.Invalidf("constraint", "%v", err)
	}
	type choice struct {
		name string
		busy int // tasks in the way
	}
	var free []choice
	ask := cluster.WithTypes(cluster.Amounts(o.Request))
	for _, n := range c.Nodes() {
		have := c.Amounts(n.Capacity)
		fits := n.State == cluster.Up && must.Allows(n.Labels)
		for name, amount := range ask {
			fits = fits && have[name] >= amount
		}
		if one := (Reservation{Name: r.Name, Nodes: []string{n.Name}, From: r.From, Until: r.Until,
			Maintenance: r.Maintenance}); fits && s.InForce.checkOverlap(&one) == nil {
			free = append(free, choice{n.Name, len(one.overruns(s, r.Made))})
		}
	}
	if len(free) < o.Count {
		return queue.Invalidf("nodes",
			"you asked for %d nodes, but only %d matching nodes are up and not reserved at that time", o.Count, len(free))
	}
	slices.SortStableFunc(free, func(a, b choice) int { return cmp.Compare(a.busy, b.busy) })
	r.Nodes = nil
	for _, f := range free[:o.Count] {
		r.Nodes = append(r.Nodes, f.name)
	}
	slices.Sort(r.Nodes)
	return nil
}

// overruns returns the running tasks on its nodes that may still be running when it begins, except the tasks of the
// reservation itself.
func (r *Reservation) overruns(s *State, now time.Time) []Overrun {
	var out []Overrun
	for _, run := range s.Runs {
		if !slices.Contains(r.Nodes, run.Holder) || run.Header.Reservation == r.Name {
			continue
		}
		x := Overrun{Job: run.Ref.JobID, Task: run.Ref.Task, User: run.Header.User, Node: run.Holder}
		if run.Header.Limit > 0 && !run.Queued {
			x.Until = run.Started.Add(run.Header.Limit)
		}
		if x.Until.IsZero() || x.Until.After(r.From) || !r.From.After(now) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b Overrun) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
	})
	return out
}

// OverrunJob groups the tasks of one job on one node that may overrun the beginning of a reservation.
type OverrunJob struct {
	Job   int64
	User  string
	Node  string
	Tasks int
	Until time.Time // end of the last task, by the time limits; zero if one has none
}

// OverrunJobs groups the tasks by job and node, in the order of the first task of each.
func OverrunJobs(tasks []Overrun) (out []OverrunJob) {
	for _, x := range tasks {
		i := slices.IndexFunc(out, func(o OverrunJob) bool { return o.Job == x.Job && o.Node == x.Node })
		if i < 0 {
			out = append(out, OverrunJob{Job: x.Job, User: x.User, Node: x.Node, Tasks: 1, Until: x.Until})
			continue
		}
		o := &out[i]
		o.Tasks++
		if x.Until.IsZero() || !o.Until.IsZero() && x.Until.After(o.Until) {
			o.Until = x.Until
		}
	}
	return out
}

// OverrunText lists tasks that may overrun the beginning of a reservation.
func OverrunText(tasks []Overrun) string {
	const most = 5
	jobs := OverrunJobs(tasks)
	var parts []string
	for i, x := range jobs {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(jobs)-most))
			break
		}
		until := "without a time limit"
		if !x.Until.IsZero() {
			until = "until " + instant.Text(x.Until)
		}
		if x.Tasks > 1 {
			until = units.Plural(x.Tasks, "task") + ", " + until
		}
		parts = append(parts, fmt.Sprintf("job %d of %s on %s (%s)", x.Job, x.User, x.Node, until))
	}
	return fmt.Sprintf("%s may still be running when the reservation begins: %s", units.Plural(len(tasks), "task"),
		strings.Join(parts, ", "))
}

// Overrun is a running task that may still be running when a reservation of its node begins.
type Overrun struct {
	Job   int64     `json:"job"`
	Task  int       `json:"task"`
	User  string    `json:"user"`
	Node  string    `json:"node"`
	Until time.Time `json:"until,omitzero"` // by its time limit; zero if it has none
}

// OverrunError is an [queue.ErrForbidden] about a reservation whose beginning running tasks may overrun.
type OverrunError struct {
	Name  string
	Tasks []Overrun
}

func (e *OverrunError) Error() string {
	return OverrunText(e.Tasks) +
		"; a reservation stops no tasks: begin later, choose other nodes, or reserve anyway with --force"
}

// Is makes errors.Is(err, ErrForbidden) true.
func (e *OverrunError) Is(target error) bool { return target == queue.ErrForbidden }

// ReserveOptions say how to make a reservation.
type ReserveOptions struct {
	// Lasts is the length of the reservation, if Until is not given.
	Lasts time.Duration
	// Count is the number of nodes to choose if none are named. They must have the amounts of Request and satisfy the
	// Constraint; nodes without a task in the way come first.
	Count      int
	Request    queue.Amounts
	Constraint string
	// Force makes it even if running tasks may still be running when it begins. They continue.
	Force bool
	// DryRun reports which tasks would be in the way, and makes nothing. Running tasks are then no error.
	DryRun bool
	From   string // the channel of the request, such as socket
}

// checkOverlap refuses a second reservation of a node for the same time. A maintenance takes precedence over
// reservations, and may overlap with them.
func (f *inForce) checkOverlap(r *Reservation) error {
	if r.Maintenance {
		return nil
	}
	for _, x := range f.reservationsAt(time.Now()) {
		if x.Name == r.Name || x.Maintenance || !x.From.Before(r.Until) || !r.From.Before(x.Until) {
			continue
		}
		for _, node := range r.Nodes {
			if slices.Contains(x.Nodes, node) {
				return refusal(fmt.Sprintf("%s is reserved from %s until %s by %s: choose other nodes or another time, or end that reservation first",
					node, instant.Text(x.From), instant.Text(x.Until), x.Name))
			}
		}
	}
	return nil
}
