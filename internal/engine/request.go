package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// HeaderOf returns the part of a job that the engine needs.
func HeaderOf(j *queue.Job) queue.Header {
	return queue.Header{
		ID: j.ID, User: j.User, Kind: j.Kind, Pool: j.Pool, Priority: j.Priority,
		QOS: j.QOS, Nice: j.Nice, Group: j.Group, Requestor: j.Requestor, Limit: j.Limit,
		Request: j.Request, Constraint: j.Constraint, Reservation: j.Reservation, Licenses: j.Licenses, Rates: j.Rates, Handler: len(j.Argv) == 0, MaxRunning: j.MaxRunning, Tasks: j.Tasks, Gang: j.Gang, Spread: j.Spread,
		Submitted: j.Submitted, Avoid: j.Avoid,
	}
}

// RequestOf returns the request of a job's tasks for a node, and the constraint on the node.
func (s *State) RequestOf(h queue.Header) (cluster.Amounts, cluster.Constraint) {
	return cluster.Amounts(s.Shares.Request(h)), s.Core.Cluster().Except(constraintOf(h), s.Mended.avoided(h))
}

// AskOf returns the request of a job's tasks with licenses and rates.
func (s *State) AskOf(h queue.Header) sched.Request {
	a, must := s.RequestOf(h)
	r := sched.Request{
		Amounts: a, Constraint: must, Licenses: h.Licenses, Rates: h.Rates, Gang: h.Gang, Spread: h.Spread,
		Reservation: h.Reservation,
	}
	if s.Shares.Users.Running > 0 {
		r.User = h.User
	}
	return r
}

// constraintOf parses the constraint of a job. It was valid when the job was submitted. If stricter rules reject it
// now, no node satisfies it.
func constraintOf(h queue.Header) cluster.Constraint {
	c, err := cluster.ParseConstraint(h.Constraint)
	if err != nil {
		return cluster.Constraint{{{Label: h.Constraint}}}
	}
	return c
}

// work returns the abilities in a request, without the resources.
func work(a cluster.Amounts) cluster.Amounts {
	can := cluster.Amounts{}
	for name, n := range a {
		if ability(name) {
			can[name] = n
		}
	}
	return can
}

// WhoCould says what to start if no node has the ability for a job.
func WhoCould(core *sched.Scheduler, s sched.Job) string {
	for _, x := range core.Cluster().Empty().Lacks(s.Key) {
		switch {
		case x.Resource == queue.ExecResource:
			return "Start an agent: fairlead work"
		case ability(x.Resource):
			return "Start a worker, or a program, that handles this kind; or submit the job again under the right kind"
		}
	}
	return ""
}

// ability reports whether a resource is an ability of a node.
func ability(resource string) bool {
	return resource == queue.ExecResource || strings.HasPrefix(resource, queue.HandlerPrefix)
}

// NeverSentence says which requirement leaves no node, and what would leave one.
func NeverSentence(steps []cluster.Requirement, nodes int) string {
	left := nodes
	for _, r := range steps {
		if r.Left > 0 {
			left = r.Left
			continue
		}
		other := ""
		if left < nodes {
			other = " that satisfies the rest"
		}
		switch {
		case len(r.Except) > 0:
			return fmt.Sprintf("there is no node%s except %s", other, strings.Join(r.Except, ", "))
		case r.Term != "":
			return fmt.Sprintf("no node%s has labels with %s; see the labels of all nodes with: fairlead nodes", other, r.Term)
		case r.Largest == 0:
			return fmt.Sprintf("it asks for %s, and no node%s has %s", units.Amount(r.Resource, r.Need), other, r.Resource)
		}
		return fmt.Sprintf("it asks for %s, and the largest node%s, %s, has %s; ask for %s or less",
			units.Amount(r.Resource, r.Need), other, r.On, units.Quantity(r.Resource, r.Largest), units.Quantity(r.Resource, r.Largest))
	}
	return "no node has all that it asks for"
}

// Narrowing returns the steps in which a job's requirements narrow all nodes down to none.
func (s *State) Narrowing(h queue.Header) []why.Narrowing {
	a, must := s.RequestOf(h)
	c := s.Core.Cluster()
	out := []why.Narrowing{{Left: len(c.Nodes()), Requirement: "(all nodes)"}}
	for _, r := range c.Empty().Requirements(a, must) {
		if ability(r.Resource) && r.Left == out[len(out)-1].Left {
			continue // every node can do it
		}
		step := why.Narrowing{Left: r.Left, Requirement: cmp.Or(r.Term, r.Resource+" >= "+units.Quantity(r.Resource, r.Need))}
		switch kind, handler := strings.CutPrefix(r.Resource, queue.HandlerPrefix); {
		case len(r.Except) > 0:
			step.Requirement = "not on " + strings.Join(r.Except, ", ") + ", which could not begin it"
		case handler:
			step.Requirement = fmt.Sprintf("a handler for the kind %q", kind)
		case r.Resource == queue.ExecResource:
			step.Requirement = "an agent that runs commands"
		case r.Left == 0 && r.Largest > 0:
			step.Nearest = fmt.Sprintf("largest node: %s (%s)", units.Quantity(r.Resource, r.Largest), r.On)
		}
		out = append(out, step)
		if r.Left == 0 {
			break
		}
	}
	return out
}

// aboveMax names the pool on the job's path whose maximum is below the job's request, and that maximum; "" if there is
// none. A maximum of 0 does not count, because it closes a pool temporarily.
func (s *State) aboveMax(h queue.Header) string {
	a, _ := s.RequestOf(h)
	ask := cluster.WithTypes(a)
	tasks := int64(max(1, h.Gang))
	segments := strings.Split(h.Pool, "/")
	for n := len(segments); n >= 0; n-- {
		path := strings.Join(segments[:n], "/")
		id, known := s.Core.Lookup(path)
		if !known {
			continue
		}
		limits, some := s.Core.Read().Limits(id)
		if !some {
			continue
		}
		for _, running := range []int{limits.Tasks, limits.JobTasks} {
			if h.Gang > 1 && running > 0 && h.Gang > running {
				return fmt.Sprintf("its %d tasks start all at once, and %s may run %d%s", h.Gang, RootName(path), running, fewer(h, int64(running)))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(limits.Max)) {
			if m, need := limits.Max[name], tasks*ask[name]; m > 0 && need > m {
				return fmt.Sprintf("it asks for %s%s, and %s may have %s%s", units.Amount(name, need), atOnceText(h), RootName(path), units.Quantity(name, m), lessOf(h, name, ask[name], m))
			}
		}
	}
	return ""
}

func atOnceText(h queue.Header) string {
	if h.Gang > 1 {
		return " at once"
	}
	return ""
}

// lessOf advises a smaller request for a resource, up to its limit.
func lessOf(h queue.Header, name string, each, limit int64) string {
	if h.Gang > 1 {
		return fewer(h, limit/each)
	}
	return "; ask for " + units.Quantity(name, limit) + " or less, or for another pool"
}

// fewer is the advice to start fewer tasks at once.
func fewer(h queue.Header, tasks int64) string {
	switch {
	case tasks < 1:
		return "; ask for less, or for another pool"
	case h.Spread:
		return fmt.Sprintf("; use -N %d, or ask for less or for another pool", tasks)
	}
	return fmt.Sprintf("; use -n %d, or ask for less or for another pool", tasks)
}

// GangNever says why the known nodes could never run a gang, although some could run one of its tasks. It also says
// which gang they could run. It returns "" if they could run this gang.
func GangNever(c *cluster.Cluster, h queue.Header, a cluster.Amounts, must cluster.Constraint) string {
	if h.Gang < 2 {
		return ""
	}
	nodes, tasks := c.Empty().Holds(a, must)
	each := allocation.RequestText(h.Request, c.Unit())
	switch {
	case h.Spread && nodes < h.Gang:
		text := fmt.Sprintf(
			"it asks for %d nodes with %s, but the cluster has only %d%s: use -N %d", h.Gang, each, nodes, atOne(c), nodes)
		if smaller := forSo(c, h, a, must); smaller != "" && atOne(c) == "" {
			text += ", or ask for " + smaller + " on each"
		}
		return text
	case !h.Spread && tasks < int64(h.Gang):
		return fmt.Sprintf(
			"it asks for %d tasks with %s at once, but there is room for only %d%s: use -n %d",
			h.Gang, each, tasks, atOne(c), tasks)
	}
	return ""
}

// atOne adds that a gang runs at one server, if there are several.
func atOne(c *cluster.Cluster) string {
	if slices.ContainsFunc(c.Nodes(), func(n cluster.Node) bool { return n.Server != "" }) {
		return " at one server, where all of them have to run"
	}
	return ""
}

// forSo says, if only one resource is lacking, how much of it the nodes have: the amount that each of n nodes has, for
// a gang of n tasks.
func forSo(c *cluster.Cluster, h queue.Header, a cluster.Amounts, must cluster.Constraint) string {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if ability(name) {
			continue
		}
		var have []int64
		for i := range c.Nodes() {
			n := &c.Nodes()[i]
			if has, fits := besides(c, n, a, name); fits && must.Allows(n.Labels) {
				have = append(have, has)
			}
		}
		slices.Sort(have)
		if i := len(have) - h.Gang; i >= 0 && have[i] > 0 && have[i] < a[name] {
			return units.Amount(name, have[i])
		}
	}
	return ""
}

// besides returns how much of a resource a node has, and whether it has enough of all others.
func besides(c *cluster.Cluster, n *cluster.Node, a cluster.Amounts, resource string) (has int64, fits bool) {
	all := c.Amounts(n.Capacity)
	for name, need := range cluster.WithTypes(a) {
		if name != resource && all[name] < need {
			return 0, false
		}
	}
	return all[resource], true
}
