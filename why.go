package fairlead

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// WhyOptions say how much an answer is to hold.
type WhyOptions struct {
	// Siblings bounds the children that are listed before the job's own at each pool;
	// 0 lists all.
	Siblings int
	// Evidence adds what it takes to recompute the answer.
	Evidence bool
	// Estimate adds when a job that waits will start, and what would make that sooner.
	Estimate bool

	place   *place // of the job, if it is known
	preview int64  // bounds how many starts are previewed to find its place, if not 0
}

// previewTasks bounds how many starts are previewed to find the place of a job.
const previewTasks = 100_000

// evidenceJobs bounds how many waiting jobs an evidence lists.
const evidenceJobs = 50_000

// startedMeanwhile bounds how often a job is read again that started between its
// reading and the look at the scheduler.
const startedMeanwhile = 4

var starting = why.Reason{Code: why.StateStarting, Text: "it is starting just now"}

// Why says why a job is where it is, by the numbers that the next step would compare.
func (l *Loop) Why(ctx context.Context, id int64, o WhyOptions) (*why.Answer, error) {
	for try := 1; ; try++ {
		a, future, err := l.whyNow(ctx, id, o)
		if err != nil || a.Reason.Code != "" {
			if future != nil {
				a.Start = future.estimate()
				a.Changes = future.changes(a)
			}
			return a, err
		}
		if try == startedMeanwhile {
			a.Verdict, a.Reason = why.AsDesigned, starting
			return a, nil
		}
	}
}

// whyNow is Why, without a reason if the job has started since it was read.
func (l *Loop) whyNow(ctx context.Context, id int64, o WhyOptions) (a *why.Answer, future *estimator, err error) {
	j, err := l.client.Job(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	var tasks []Task
	if j.State != Held && j.State != Blocked {
		if tasks, err = l.store.Tasks(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	blockers, err := l.blockers(ctx, j)
	if err != nil {
		return nil, nil, err
	}
	stop, err := l.stopOf(ctx, j, tasks)
	if err != nil {
		return nil, nil, err
	}
	if err := l.sync(ctx); err != nil {
		return nil, nil, err
	}
	if !o.Evidence && j.Waiting > 0 {
		o.place = l.placeOf(ctx, j)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Advance(time.Now())
	a = l.answer(j)
	a.Stop = stop
	switch {
	case j.State.Ended():
		a.Verdict, a.Reason = why.Ended, endedReason(j, tasks)
		l.addChoice(a, j)
	case j.Cancel && j.Running > 0:
		a.Verdict, a.Reason = why.AsDesigned, cancellingReason(j, tasks)
		l.addChoice(a, j)
	case j.State == Queued && j.Waiting == 0:
		a.Verdict, a.Reason = why.AsDesigned, queuedReason(j, tasks)
		l.addChoice(a, j)
	case j.State == Running && j.Waiting == 0:
		a.Verdict, a.Reason = why.AsDesigned, runningReason(j, tasks)
		l.addChoice(a, j)
	default:
		l.whyWaiting(a, j, tasks, blockers, o)
	}
	if o.Estimate && j.Waiting > 0 && (j.State == Waiting || j.State == Queued || j.State == Running) && startable(a) {
		future = l.estimatorOf(j.ID, a.At)
		if j.State == Waiting { // a job of which a part runs is not submitted again
			future.others = l.alternativesOf(j, a)
		}
	}
	return a, future, nil
}

// answer begins an answer about a job.
func (l *Loop) answer(j *Job) *why.Answer {
	submitted := j.Submitted
	return &why.Answer{
		Version: why.Version, At: time.Now(), Step: l.core.Steps(), Config: l.shares.Hash,
		Subject: why.Subject{
			Job: j.ID, Name: j.Name, User: j.User, Pool: j.Pool, Priority: j.Priority, State: string(j.State),
			Waiting: int64(j.Waiting), Running: int64(j.Running),
			Request: Request(j.Request, l.core.Cluster().Unit()), Limit: j.Limit.Seconds(), Submitted: &submitted,
			Gang: j.Gang, Spread: j.Spread,
		},
		Units: l.units(),
	}
}

// blockers are the jobs that a blocked one waits for, with their states.
func (l *Loop) blockers(ctx context.Context, j *Job) ([]string, error) {
	if j.State != Blocked {
		return nil, nil
	}
	var ids []int64
	for _, d := range j.After {
		ids = append(ids, d.Job)
	}
	jobs, err := l.store.Jobs(ctx, Query{IDs: ids})
	var out []string
	for _, b := range jobs {
		if !b.State.Ended() {
			out = append(out, fmt.Sprintf("job %d (%s)", b.ID, b.State))
		}
	}
	return out, err
}

// whyWaiting explains a job of which something waits.
func (l *Loop) whyWaiting(a *why.Answer, j *Job, tasks []Task, blockers []string, o WhyOptions) {
	s := l.jobOf(headerOf(j))
	a.Levels = l.core.Comparisons(l.core.Leaf(s), o.Siblings)
	if lv, ok := l.core.JobLevel(s, o.Siblings); ok {
		a.Levels = append(a.Levels, lv)
	}
	if o.Evidence {
		a.Evidence = l.core.Evidence(evidenceJobs)
	}
	a.Gates = append(jobGates(j, tasks, blockers, a.At), inWords(l.core.Gates(s))...)
	for i := range a.Gates {
		switch a.Gates[i].Code {
		case why.FitNever:
			a.Gates[i].Text = l.neverText(j, l.core.Cluster().Lacks(s.Shape))
			a.Nodes = l.narrowing(headerOf(j))
		case why.NoNodes:
			if !l.someNodeUp() {
				a.Gates[i].Text = l.noNodesText()
			}
		}
	}
	l.tellTolls(a.Gates, a.At)
	tellKept(a.Gates, s.Limit, a.At)
	tellWindows(a.Gates, s.Limit, a.At)
	a.Kept = l.core.KeptFor(j.ID)
	closed := closedGates(a.Gates)
	own := len(closed) > 0 && closed[0].Where == "job" && closed[0].Code != why.GateJobTasks
	if !own && !l.core.Waits(s) {
		return // it has started since it was read
	}
	if len(closed) == 0 || onlyCapacity(closed) {
		p := o.place
		if p == nil {
			p = l.rank(s, cmp.Or(o.preview, previewTasks))
		}
		a.Rank, a.Ahead = p.rank, p.ahead
	}
	reasons := reasonsOf(l.telling(closed))
	if len(reasons) > 0 && keepsFree(reasons[0].Code) {
		if a.Rank != nil && a.Rank.Position > 1 {
			reasons = append(reasons, l.rankReason(a, j))
		}
	} else if a.Rank != nil && len(reasons) > 0 && reasons[0].Code != why.NoNodes && reasons[0].Code != why.FitNever {
		reasons = append([]why.Reason{l.rankReason(a, j)}, reasons...)
	} else if a.Rank == nil && (len(reasons) == 0 || onlyCapacity(closed)) {
		reasons = append([]why.Reason{limitReason(a.Gates)}, reasons...)
	} else if len(reasons) == 0 {
		reasons = []why.Reason{l.rankReason(a, j)}
	}
	a.Reason, a.Others = reasons[0], reasons[1:]
	if next := l.whoCould(s); next != "" && a.Reason.Code == why.FitNever {
		a.Reason.Next = next
	}
	if next := l.whichBridge(); next != "" && a.Reason.Code == why.NoNodes {
		a.Reason.Next = next
	}
	a.Verdict = verdictOf(a.Reason)
}

func closedGates(gates []why.Gate) []why.Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(g why.Gate) bool { return g.Open })
}

// telling leaves out that no node has room where everything is in use anyway.
func (l *Loop) telling(closed []why.Gate) []why.Gate {
	_, free := l.core.Cluster().Capacity()
	return slices.DeleteFunc(slices.Clone(closed), func(g why.Gate) bool { return g.Code == why.FitNow && free[0] == 0 })
}

// onlyCapacity reports whether nothing but the lack of room closes the way.
func onlyCapacity(closed []why.Gate) bool {
	return !slices.ContainsFunc(closed, func(g why.Gate) bool { return g.Code != why.FitNow && !keepsFree(g.Code) })
}

// limitReason is why a job does not appear among the next starts although no gate is
// closed: what goes before it will use up a limit on its way.
func limitReason(gates []why.Gate) why.Reason {
	for _, g := range gates {
		code := why.GateMax
		switch {
		case g.Limit == "" || g.Where == "job" || g.Name == "nodes":
			continue
		case g.Name == "max_running":
			code = why.GateMaxTasks
		case g.Where == "licenses":
			code = why.GateLicense
		case g.Where == "rates":
			code = why.GateRate
		}
		e, _ := why.Explain(code)
		if g.Where == "rates" {
			text := fmt.Sprintf("jobs that go before it will use up the starts of %s (%s): %s now", g.Name, g.Limit, g.Used)
			return why.Reason{Code: code, Text: text, Next: e.Next}
		}
		what := g.Name + " of " + g.Where
		if g.Where == "licenses" {
			what = "licence " + strings.TrimPrefix(g.Name, "license ")
		}
		text := fmt.Sprintf("jobs that go before it will use up %s: %s of %s in use now", what, g.Used, g.Limit)
		return why.Reason{Code: code, Text: text, Next: e.Next}
	}
	return why.Reason{Code: why.FitNow, Text: "no node has room for it now"}
}

// rankReason says in words what the rank says in numbers.
func (l *Loop) rankReason(a *why.Answer, j *Job) why.Reason {
	if a.Rank.Position == 1 {
		return l.nextReason(a)
	}
	var level *why.Level // that decides
	for i := range a.Levels {
		lv := &a.Levels[i]
		if lv.Before == 0 || len(lv.Children) < 2 {
			continue
		}
		if !turnsOnly(lv) {
			level = lv
			break
		}
		level = cmp.Or(level, lv)
	}
	own := slices.IndexFunc(a.Ahead, func(x why.Ahead) bool { return x.Own })
	if own >= 0 && (level == nil || turnsOnly(level)) {
		x := a.Ahead[own]
		return why.Reason{
			Code: why.OrderBehind, Text: "it is behind " + plural(int(x.Jobs), "job") + " of its own pool " + j.Pool,
			Next: fmt.Sprintf("raise its priority: fairlead alter %d --priority high", j.ID),
		}
	}
	if level != nil {
		return l.behind(a, j, level)
	}
	return why.Reason{Code: why.ShareBehind, Text: fmt.Sprintf("%d tasks of other pools go first", a.Rank.Position-1)}
}

// turnsOnly reports whether the job's way is behind at a level only because classes that have
// what they are entitled to stand level, while the machine is full. A slot that its own class
// frees comes back to it, so that is not what the job waits for.
func turnsOnly(lv *why.Level) bool {
	if lv.Policy != "load" {
		return false
	}
	first, you := lv.Children[0], lv.Children[yours(lv)]
	return first.Key == you.Key && first.Needy == you.Needy && you.Running > 0
}

// yours is which child of a level the job is in.
func yours(lv *why.Level) int {
	return slices.IndexFunc(lv.Children, func(c why.Child) bool { return c.Name == lv.You })
}

// behind is the reason of a job whose way is behind at a level.
func (l *Loop) behind(a *why.Answer, j *Job, lv *why.Level) why.Reason {
	first := lv.Children[0]
	r := why.Reason{
		Code: why.ShareBehind, Text: aheadText(lv, first, lv.Children[yours(lv)], a.Units.Growth),
		Next: fmt.Sprintf("fairlead why %d --vs %s", j.ID, strings.TrimPrefix(lv.Pool+"/"+first.Name, "/")),
	}
	if lv.Jobs {
		return jobReason(j.ID, r.Text, first.Name)
	}
	if l.core.Band(sched.PoolID(first.Number)) {
		r.Next = fmt.Sprintf("fairlead alter %d --priority high", j.ID)
	}
	return r
}

// aheadText says why one child goes before another.
func aheadText(lv *why.Level, first, you why.Child, growth float64) string {
	return fmt.Sprintf("%s goes before %s in %s: %s", first.Name, lv.You, rootName(lv.Pool), lv.Wins(first, you, growth))
}

func rootName(path string) string {
	if path == "" {
		return "the root"
	}
	return path
}

// nextReason explains a job that is first in line.
func (l *Loop) nextReason(a *why.Answer) why.Reason {
	running := l.core.View(sched.Root).Tasks
	capacity, free := l.core.Cluster().Capacity()
	if g := a.Gates[len(a.Gates)-1]; g.Open {
		return why.Reason{Code: why.StateStarting, Text: "it is next, and there is room: it starts at the next step"}
	}
	if g := a.Gates[len(a.Gates)-1]; keepsFree(g.Code) {
		return gateReason(g)
	}
	text := fmt.Sprintf("it is next; all %d %s are in use by %d tasks, it starts when enough of them end", capacity[0], l.core.Cluster().Unit(), running)
	code := why.CapacityFull
	if free[0] > 0 {
		code = why.FitNow
		text = fmt.Sprintf("it is next; it asks for %s on one node, and of the %d free no node has that", a.Subject.Request, free[0])
		if a.Subject.Gang > 1 {
			text = fmt.Sprintf("it is next; it asks for %s %s, and the %d free do not have that", a.Subject.Request, a.Subject.AtOnce(), free[0])
		}
	}
	return why.Reason{Code: code, Text: text, Next: "wait"}
}
