package fairlead

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// requestOf is what tasks of a job ask for of a node.
func (l *Loop) requestOf(h Header) (cluster.Amounts, cluster.Constraint) {
	return cluster.Amounts(l.shares.request(h)), constraintOf(h)
}

// askOf is it with the licences and rates.
func (l *Loop) askOf(h Header) sched.Request {
	a, must := l.requestOf(h)
	return sched.Request{Amounts: a, Constraint: must, Licenses: h.Licenses, Rates: h.Rates, Gang: h.Gang, Spread: h.Spread, Reservation: h.Reservation}
}

// shapeOf numbers it.
func (l *Loop) shapeOf(h Header) cluster.Shape { return l.core.ShapeOf(l.askOf(h)) }

// constraintOf reads the constraint of a job. It was read when the job came, so that it can
// be read unless the rules became stricter: then no node satisfies it.
func constraintOf(h Header) cluster.Constraint {
	c, err := cluster.ParseConstraint(h.Constraint)
	if err != nil {
		return cluster.Constraint{{{Label: h.Constraint}}}
	}
	return c
}

// Submit is [Client.SubmitAll], and refuses jobs that no node could ever run, and those that
// ask for a reservation that is not for them.
func (l *Loop) Submit(ctx context.Context, jobs []Job) ([]Submission, error) {
	return l.client.submitAll(ctx, jobs, func(j *Job) error { return cmp.Or(l.checkWindow(j), l.unsatisfiable(j)) })
}

// SubmitAnyway is Submit also for jobs that no node could ever run.
func (l *Loop) SubmitAnyway(ctx context.Context, jobs []Job) ([]Submission, error) {
	return l.client.submitAll(ctx, jobs, l.checkWindow)
}

// unsatisfiable returns an error for a job that asks for more than its pool may ever have, or
// that no node could ever run of those that are known, up or not. Of nodes it says nothing while
// not all may be known: before the first that does such work has joined, and after a restart for
// as long as agents may take to come back.
func (l *Loop) unsatisfiable(j *Job) error {
	h := headerOf(j)
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := l.aboveMost(h); text != "" {
		return invalid("max", "the job could never start: %s (submit it nevertheless with --allow-unsatisfiable)", text)
	}
	c := l.core.Cluster()
	a, must := l.requestOf(h)
	if l.restarted && time.Since(l.made) < l.options.LeaseTTL || !c.Ever(work(a), nil) {
		return nil
	}
	if c.Ever(a, must) {
		if text := gangNever(c, h, a, must); text != "" {
			return invalid("gang", "the nodes can never run this: %s (submit it nevertheless with --allow-unsatisfiable)", text)
		}
		return nil
	}
	steps := c.Requirements(a, must)
	return invalid("request", "no node can ever run this: %s (submit it nevertheless with --allow-unsatisfiable)", neverSentence(steps, len(c.Nodes())))
}

// work is what a node has to be able to do for a request, whatever it has.
func work(a cluster.Amounts) cluster.Amounts {
	can := cluster.Amounts{}
	for name, n := range a {
		if ability(name) {
			can[name] = n
		}
	}
	return can
}

// whoCould says whom to start where no node can do the work of a job at all.
func (l *Loop) whoCould(s sched.Job) string {
	for _, x := range l.core.Cluster().Lacks(s.Shape) {
		switch {
		case x.Resource == execResource:
			return "Start an agent: fairlead work"
		case ability(x.Resource):
			return "Start a worker, or a program, that handles this kind; or submit the job again under the right kind"
		}
	}
	return ""
}

// ability reports whether a resource stands for what a node can do.
func ability(resource string) bool {
	return resource == execResource || strings.HasPrefix(resource, handlerPrefix)
}

// neverSentence says which requirement leaves no node, and what would.
func neverSentence(steps []cluster.Requirement, nodes int) string {
	left := nodes
	for _, r := range steps {
		if r.Left > 0 {
			left = r.Left
			continue
		}
		other := ""
		if left < nodes {
			other = " of those that satisfy the rest"
		}
		switch {
		case r.Term != "":
			return fmt.Sprintf("no node%s has labels with %s; see the labels of all nodes with: fairlead nodes", other, r.Term)
		case r.Largest == 0:
			return fmt.Sprintf("it asks for %s, and no node%s has %s", amount(r.Resource, r.Need), other, r.Resource)
		}
		return fmt.Sprintf("it asks for %s, and the largest node%s, %s, has %s; ask for %s or less",
			amount(r.Resource, r.Need), other, r.On, quantity(r.Resource, r.Largest), quantity(r.Resource, r.Largest))
	}
	return "no node has all that it asks for"
}

// narrowing is the way from all nodes to none, step by step.
func (l *Loop) narrowing(h Header) []why.Narrowing {
	a, must := l.requestOf(h)
	c := l.core.Cluster()
	out := []why.Narrowing{{Left: len(c.Nodes()), Requirement: "(all nodes)"}}
	for _, r := range c.Requirements(a, must) {
		if ability(r.Resource) && r.Left == out[len(out)-1].Left {
			continue // every node can do it
		}
		step := why.Narrowing{Left: r.Left, Requirement: cmp.Or(r.Term, r.Resource+" >= "+quantity(r.Resource, r.Need))}
		switch kind, handler := strings.CutPrefix(r.Resource, handlerPrefix); {
		case handler:
			step.Requirement = fmt.Sprintf("a handler for the kind %q", kind)
		case r.Resource == execResource:
			step.Requirement = "an agent that runs commands"
		case r.Left == 0 && r.Largest > 0:
			step.Nearest = fmt.Sprintf("largest node: %s (%s)", quantity(r.Resource, r.Largest), r.On)
		}
		out = append(out, step)
		if r.Left == 0 {
			break
		}
	}
	return out
}
