package fairlead

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// ShortReason is why a job waits, as short as a line of a table.
type ShortReason struct {
	Rank int64 // place of its next task in the order of starts; 0 if not known
	Code why.Code
	Text string
}

// waitingLine is what jobs have in common that wait for the same: their pool and their request.
type waitingLine struct {
	leaf  sched.PoolID
	shape cluster.Shape
}

// lineReasons are the reasons of lines, of which each is looked for once.
type lineReasons struct {
	*Loop
	known map[waitingLine]why.Reason
}

// reason is why the jobs of the line of a job wait.
func (l lineReasons) reason(j *Job) why.Reason {
	s := l.jobOf(headerOf(j))
	line := waitingLine{l.core.Leaf(s), s.Shape}
	r, known := l.known[line]
	if !known {
		r = l.reasonFor(line.leaf, l.core.LineGates(line.leaf, line.shape))
		l.known[line] = r
	}
	return r
}

// hopeless tells of what time alone will not change of the nodes, if there is something: that
// none that takes tasks is large enough.
func (l lineReasons) hopeless(j *Job, r *ShortReason) bool {
	reason := l.reason(j)
	switch reason.Code {
	case why.NoNodes:
		r.Text = reason.Text
	case why.FitNever:
		r.Text = "no node is large enough"
		if j.Constraint != "" {
			r.Text = "no node satisfies what it asks for"
		}
		if j.Gang > 1 {
			r.Text = "too few nodes could run it"
		}
		if len(j.Argv) == 0 && l.whoCould(l.jobOf(headerOf(j))) != "" {
			r.Text = "no worker handles this kind"
		}
	default:
		return false
	}
	r.Rank, r.Code = 0, reason.Code
	return true
}

// ShortReasons says of each job that waits why it does.
func (l *Loop) ShortReasons(ctx context.Context, jobs []*Job) map[int64]ShortReason {
	return l.ReasonsIn(l.Order(ctx), jobs)
}

// ReasonsIn is [Loop.ShortReasons], with the places of an order that the caller has.
func (l *Loop) ReasonsIn(order *Order, jobs []*Job) map[int64]ShortReason {
	out := map[int64]ShortReason{}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	up := l.someNodeUp()
	lines := lineReasons{l, map[waitingLine]why.Reason{}}
	kept := l.core.Kept()
	for _, j := range jobs {
		if j.Waiting == 0 || j.State.Ended() {
			continue
		}
		r := ShortReason{Rank: order.Position[j.ID]}
		switch {
		case j.Held:
			r.Code, r.Text = why.GateHeld, "held"
		case j.Pending > 0:
			r.Code, r.Text = why.GateAfter, plural(j.Pending, "other job")
		case j.Begin.After(now):
			r.Code, r.Text = why.GateBegin, "begins "+clock(j.Begin, now)
		case j.Most > 0 && j.Running >= j.Most:
			r.Code, r.Text = why.GateJobTasks, fmt.Sprintf("%d of its tasks at once", j.Most)
		case lines.reason(j).Code == why.GateNever, lines.reason(j).Code == why.GatePaused:
			r.Rank, r.Code, r.Text = 0, lines.reason(j).Code, lines.reason(j).Text
		case l.windowReason(j, &r, now):
		case !up:
			r.Code, r.Text = why.NoNodes, "a node: none takes tasks"
		case lines.hopeless(j, &r):
		case l.tollReason(j, &r):
		case l.keptReason(j, kept, &r, now):
		case r.Rank == 1:
			r.Code, r.Text = why.CapacityFull, "room; it is next"
		default:
			reason := lines.reason(j)
			r.Code, r.Text = reason.Code, reason.Text
			if reason.Code == why.CapacityFull && l.core.View(l.core.Leaf(l.jobOf(headerOf(j)))).Waiting > int64(j.Waiting) {
				r.Code, r.Text = why.OrderBehind, "other jobs of its pool"
			}
		}
		out[j.ID] = r
	}
	return out
}

// tollReason tells of the licence or rate that holds a job back, if one does: a licence
// that could never be enough before others.
func (l *Loop) tollReason(j *Job, r *ShortReason) bool {
	if len(j.Licenses)+len(j.Rates) == 0 {
		return false
	}
	for _, reason := range reasonsOf(closedGates(l.core.TollGates(l.jobOf(headerOf(j)).Shape))) {
		r.Rank, r.Code, r.Text = 0, reason.Code, reason.Text
		return true
	}
	return false
}

// plural counts things: 1 job, 2 jobs.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// clock is the time of an instant, with its day if that is not today.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// WhyPool says why a pool gets what it gets: how it compares with its siblings, and
// what restricts it.
func (l *Loop) WhyPool(ctx context.Context, name string, siblings int) (*why.Answer, error) {
	if err := l.sync(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id, err := l.findPool(name)
	if err != nil {
		return nil, err
	}
	l.core.Advance(time.Now())
	p := l.core.View(id)
	a := l.answer(&Job{Pool: l.core.Path(id)})
	a.Subject = why.Subject{
		Name: "pool", Pool: l.core.Path(id), State: "idle", Waiting: p.Waiting, Running: int64(p.Tasks),
	}
	a.Levels = l.core.Comparisons(id, siblings)
	gates, limit := l.core.FirstGates(id)
	tellWindows(gates, limit, time.Now())
	a.Gates = inWords(gates)
	a.Verdict = why.AsDesigned
	switch {
	case p.Waiting == 0:
		a.Reason = why.Reason{Code: why.PoolIdle, Text: "nothing waits in it"}
		return a, nil
	default:
		a.Subject.State = "waiting"
		a.Reason = l.reasonFor(id, gates)
		a.Verdict = verdictOf(a.Reason)
	}
	entitled := l.core.Entitlements()[id]
	a.Others = append(a.Others, why.Reason{Code: a.Reason.Code, Text: fmt.Sprintf(
		"it has %s %s now; of what is wanted at this moment its fair part would be %s", why.Short(p.Running), l.core.Cluster().Unit(), why.Short(math.Round(entitled.Now*100)/100))})
	return a, nil
}

// units says in what the numbers of an answer are.
func (l *Loop) units() why.Units {
	u := why.Units{
		AsOf: time.Now(), Unit: l.core.Cluster().Unit(), Reference: l.core.Clock().Reference(), Growth: l.core.Now().Growth,
		HalfLifeSeconds: l.core.Clock().HalfLife().Seconds(),
	}
	if usage := l.core.UsageUnit(); usage != u.Unit {
		u.Usage = usage
	}
	return u
}

// neverText says why no node could take a task even if it were empty.
func (l *Loop) neverText(j *Job, lacks []cluster.Lack) string {
	if len(lacks) == 0 {
		if text := l.gangNeverText(headerOf(j)); text != "" {
			return text
		}
		if j.Constraint != "" {
			c := l.core.Cluster()
			return neverSentence(c.Requirements(l.requestOf(headerOf(j))), len(c.Nodes()))
		}
		return "no node has all that it asks for together, not even an empty one"
	}
	parts := make([]string, len(lacks))
	for i, x := range lacks {
		switch kind, handler := strings.CutPrefix(x.Resource, handlerPrefix); {
		case handler:
			parts[i] = fmt.Sprintf("no program that is connected has a handler for the kind %q", kind)
		case x.Resource == execResource:
			parts[i] = "no agent that runs commands is connected"
		case x.Largest == 0:
			parts[i] = fmt.Sprintf("it asks for %s, which no node has", amount(x.Resource, x.Need))
		default:
			parts[i] = fmt.Sprintf("it asks for %s, and the largest node has %s", amount(x.Resource, x.Need), quantity(x.Resource, x.Largest))
		}
	}
	return strings.Join(parts, "; ")
}

// someNodeUp reports whether any node takes tasks.
func (l *Loop) someNodeUp() bool {
	return slices.ContainsFunc(l.core.Cluster().Nodes(), func(n cluster.Node) bool { return n.State.Counts() })
}

// noNodesText says why no node takes tasks.
func (l *Loop) noNodesText() string {
	nodes := l.core.Cluster().Nodes()
	if len(nodes) == 0 {
		return "no node has joined yet"
	}
	const most = 3
	var parts []string
	for i, n := range nodes {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(nodes)-most))
			break
		}
		text := n.Name + " is " + n.State.String()
		if cause := l.drainedText(n.Name); cause != "" {
			text = n.Name + " is " + strings.Replace(cause, "maintenance", "in maintenance", 1)
		}
		parts = append(parts, text)
	}
	return "no node takes tasks: " + strings.Join(parts, ", ")
}

// amount is a number of a resource in words: "4 cpu", "16G mem".
func amount(resource string, n int64) string { return quantity(resource, n) + " " + resource }

func quantity(resource string, n int64) string {
	if resource == "mem" {
		return units.FormatSize(n)
	}
	return strconv.FormatInt(n, 10)
}
