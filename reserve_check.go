package fairlead

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// checkReservation completes a reservation and refuses one that cannot be. It returns the
// running tasks that may run into it.
func (l *Loop) checkReservation(r *Reservation, o ReserveOptions, now time.Time) ([]Overrun, error) {
	switch {
	case r.From.IsZero():
		return nil, invalid("start", "is missing: when it begins")
	case r.Until.IsZero():
		return nil, invalid("duration", "is missing: how long it lasts")
	case !r.Until.After(r.From):
		return nil, invalid("duration", "it has to end after it begins, at %s", r.From.Format(time.RFC3339))
	case !r.Until.After(now):
		return nil, invalid("start", "it would be over already: it ends at %s", r.Until.Format(time.RFC3339))
	case r.Maintenance && len(r.Pools)+len(r.Users) > 0:
		return nil, invalid("maintenance", "nobody may use nodes in maintenance: leave that out, or the pools and users")
	case !r.Maintenance && len(r.Pools)+len(r.Users) == 0:
		return nil, invalid("pool", "say which pools or users may use it, or that it is for maintenance")
	}
	if err := l.reserveNodes(r, o); err != nil {
		return nil, err
	}
	if err := l.checkOverlap(r); err != nil {
		return nil, err
	}
	over := l.overruns(r.Nodes, r.From, r.Name, now)
	if len(over) > 0 && !o.Force && !o.DryRun {
		return over, &OverrunError{r.Name, over}
	}
	return over, nil
}

// reserveNodes checks the nodes that are named, or chooses as many as are asked for.
func (l *Loop) reserveNodes(r *Reservation, o ReserveOptions) error {
	c := l.core.Cluster()
	if o.Count == 0 {
		if len(r.Nodes) == 0 {
			return invalid("nodes", "are missing: name them, or say how many")
		}
		for _, name := range r.Nodes {
			if _, known := c.Lookup(name); !known {
				return invalid("nodes", "no node is called %q", name)
			}
		}
		slices.Sort(r.Nodes)
		r.Nodes = slices.Compact(r.Nodes)
		return nil
	}
	must, err := cluster.ParseConstraint(o.Constraint)
	if err != nil {
		return invalid("constraint", "%v", err)
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
		if one := (Reservation{Name: r.Name, Nodes: []string{n.Name}, From: r.From, Until: r.Until, Maintenance: r.Maintenance}); fits && l.checkOverlap(&one) == nil {
			free = append(free, choice{n.Name, len(l.overruns(one.Nodes, r.From, r.Name, r.Made))})
		}
	}
	if len(free) < o.Count {
		return invalid("nodes", "%d nodes are asked for, and %d that are up have what is asked for and are not reserved at that time", o.Count, len(free))
	}
	slices.SortStableFunc(free, func(a, b choice) int { return cmp.Compare(a.busy, b.busy) })
	r.Nodes = nil
	for _, f := range free[:o.Count] {
		r.Nodes = append(r.Nodes, f.name)
	}
	slices.Sort(r.Nodes)
	return nil
}

// checkOverlap refuses a second reservation of a node for the same time. A maintenance goes
// before reservations, and may overlap with them.
func (l *Loop) checkOverlap(r *Reservation) error {
	if r.Maintenance {
		return nil
	}
	for _, x := range l.reservationsAt(time.Now()) {
		if x.Name == r.Name || x.Maintenance || !x.From.Before(r.Until) || !r.From.Before(x.Until) {
			continue
		}
		for _, node := range r.Nodes {
			if slices.Contains(x.Nodes, node) {
				return refusal(fmt.Sprintf("%s is reserved from %s until %s by %s: choose other nodes or another time, or end that one first",
					node, why.Clock(x.From, time.Now()), why.Clock(x.Until, time.Now()), x.Name))
			}
		}
	}
	return nil
}

// overruns are the running tasks on nodes that may still run at an instant, but for those
// that run in the reservation itself.
func (l *Loop) overruns(nodes []string, from time.Time, name string, now time.Time) []Overrun {
	var out []Overrun
	for _, run := range l.runs {
		if !slices.Contains(nodes, run.holder) || run.header.Reservation == name {
			continue
		}
		x := Overrun{Job: run.ref.JobID, Task: run.ref.Task, User: run.header.User, Node: run.holder}
		if run.header.Limit > 0 && !run.queued {
			x.Until = run.started.Add(run.header.Limit)
		}
		if x.Until.IsZero() || x.Until.After(from) || !from.After(now) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b Overrun) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
	})
	return out
}

// OverrunJob are the tasks of one job on one node that may run into a reservation.
type OverrunJob struct {
	Job   int64
	User  string
	Node  string
	Tasks int
	Until time.Time // of the last, by the time limits; zero if one has none
}

// OverrunJobs puts the tasks of a job on a node together, in the order of the first of each.
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

// OverrunText names tasks that may run into a reservation.
func OverrunText(tasks []Overrun, now time.Time) string {
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
			until = "until " + why.Clock(x.Until, now)
		}
		if x.Tasks > 1 {
			until = plural(x.Tasks, "task") + ", " + until
		}
		parts = append(parts, fmt.Sprintf("job %d of %s on %s (%s)", x.Job, x.User, x.Node, until))
	}
	return fmt.Sprintf("%s may still run when it begins: %s", plural(len(tasks), "task"), strings.Join(parts, ", "))
}
