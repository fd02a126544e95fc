package explain

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// WhyOptions say how detailed an answer is.
type WhyOptions struct {
	// Siblings bounds the children that are listed before the job's own at each pool;
	// 0 lists all.
	Siblings int
	// Evidence adds the data needed to recompute the answer.
	Evidence bool
	// Estimate adds when a waiting job will start, and what would make it start sooner.
	Estimate bool
}

// Asked is a question, with data that is known before the answer.
type Asked struct {
	WhyOptions
	Place   *place // of the job, if it is known
	Preview int64  // number of starts that are previewed to find its place, if not 0
}

// evidenceJobs is the maximum number of waiting jobs in the evidence of an answer.
const evidenceJobs = 50_000

var Starting = why.Reason{Code: why.StateStarting, Text: "it is starting just now"}

// Answer begins an answer about a job.
func Answer(s *engine.State, j *queue.Job) *why.Answer {
	submitted := j.Submitted
	return &why.Answer{
		Version: why.Version, At: time.Now(), Step: s.Core.Read().Steps(), Config: s.Shares.Hash,
		Subject: why.Subject{
			Job: j.ID, Name: j.Name, User: j.User, Pool: j.Pool, Priority: j.Priority, State: string(j.State),
			Waiting: int64(j.Waiting), Running: int64(j.Running),
			Request: allocation.RequestText(j.Request, s.Core.Cluster().Unit()), Limit: j.Limit.Seconds(), Submitted: &submitted,
			Gang: j.Gang, Spread: j.Spread,
		},
		Units: unitsOf(s),
	}
}

// Blockers is [Unmet] for a blocked job.
func (ex *Explainer) Blockers(ctx context.Context, j *queue.Job) ([]string, error) {
	if j.State != queue.Blocked {
		return nil, nil
	}
	var ids []int64
	for _, d := range j.After {
		ids = append(ids, d.Job)
	}
	jobs, err := ex.loop.Store.Jobs(ctx, queue.Query{IDs: ids})
	return Unmet(j, jobs), err
}

// Unmet returns the dependencies of a job that are not met yet, with their states, such as "job 1 (running) has
// succeeded". The argument "jobs" has the jobs that it depends on.
func Unmet(j *queue.Job, jobs []*queue.Job) (out []string) {
	on := map[int64][]queue.DependsOn{}
	for _, d := range j.After {
		on[d.Job] = append(on[d.Job], d.On)
	}
	for _, b := range jobs {
		if b.State.Ended() {
			continue
		}
		for _, end := range on[b.ID] {
			out = append(out, fmt.Sprintf("job %d (%s) %s", b.ID, b.State, met(end)))
		}
	}
	return out
}

// met says how a job has ended that meets a dependency.
func met(on queue.DependsOn) string {
	switch on {
	case queue.OnOK:
		return "has succeeded"
	case queue.OnFailed:
		return "has failed or was canceled"
	}
	return "has ended"
}

// askBlocker says how to ask about the first of the jobs that [Unmet] returned; "" if there is none.
func askBlocker(blockers []string) string {
	var id int64
	if len(blockers) == 0 {
		return ""
	}
	if _, err := fmt.Sscanf(blockers[0], "job %d", &id); err != nil {
		return ""
	}
	return fmt.Sprintf("ask why job %d has not ended: fairlead why %d", id, id)
}

// PlaceOf returns the place of a job if many tasks wait; otherwise nil. The place may be a moment old. The caller calls
// its method Done.
func (ex *Explainer) PlaceOf(ctx context.Context, j *queue.Job) *place {
	if _, waiting := ex.loop.Running(); waiting < ManyWaiting || j.Held || j.Pending > 0 {
		return nil
	}
	return ex.placeAmongMany(ctx, j)
}

// WhyPlaced is [WhyWaiting] as of the instant at which the job's place was computed, if that happened in the
// background. So the place and the numbers are of the same instant.
func WhyPlaced(st *engine.State, a *why.Answer, j *queue.Job, tasks []queue.Task, blockers []string, o Asked) {
	p, s := o.Place, st.JobOf(engine.HeaderOf(j))
	if p == nil || p.then == nil || !waitsNow(st, s) || len(barsOf(st, s)) > 0 {
		WhyWaiting(st, a, j, tasks, blockers, o)
		return
	}
	stop := a.Stop
	st = st.With(p.then)
	*a = *Answer(st, j)
	a.Stop, a.At, a.Units.AsOf = stop, p.at, p.at
	WhyWaiting(st, a, j, tasks, blockers, o)
}

// WhyWaiting explains a job that has waiting tasks.
func WhyWaiting(st *engine.State, a *why.Answer, j *queue.Job, tasks []queue.Task, blockers []string, o Asked) {
	s := st.JobOf(engine.HeaderOf(j))
	a.Levels = st.Core.Explain().Comparisons(st.Core.Leaf(s), o.Siblings)
	if lv, ok := st.Core.Explain().JobLevel(s, o.Siblings); ok {
		a.Levels = append(a.Levels, lv)
	}
	if o.Evidence {
		a.Evidence = st.Core.Explain().Evidence(evidenceJobs)
	}
	a.Gates = append(jobGates(j, tasks, blockers, a.At), inWords(st.Core.GateView().Gates(s))...)
	for i := range a.Gates {
		switch a.Gates[i].Code {
		case why.FitNever:
			a.Gates[i].Text = neverText(st, j, st.Core.Cluster().Empty().Lacks(s.Key))
			a.Nodes = st.Narrowing(engine.HeaderOf(j))
		case why.NoNodes:
			if !someNodeUp(st) {
				a.Gates[i].Text = noNodesText(st, j, s.Key)
			}
			a.Gates[i].Text += heldUpWith(st, s.Key)
		}
		refusedBeside(st, &a.Gates[i], j)
	}
	addHolders(st, a.Gates, a.At)
	explainPlanned(a.Gates, s.Limit, a.At)
	room := st.Core.Cluster().Room(s.Key)
	explainWindows(a.Gates, s.Limit, room, a.At)
	a.Kept = st.Core.Read().KeptFor(j.ID)
	if o.Evidence {
		addPlans(a)
	}
	closed := closedGates(a.Gates)
	own := len(closed) > 0 && closed[0].Where == "job" && closed[0].Code != why.GateJobTasks
	if !own && !waitsNow(st, s) {
		return // the job started after it was read
	}
	if len(closed) == 0 || onlyCapacity(closed) {
		p := o.Place
		if p == nil {
			p = rank(st, s, cmp.Or(o.Preview, previewTasks))
		}
		a.Rank, a.Ahead = p.rank, p.ahead
	}
	reasons := reasonsOf(telling(st, closed))
	if len(reasons) > 0 && keepsFree(reasons[0].Code) && !comesLater(a.Gates[len(a.Gates)-1], room, a.At) {
		if a.Rank != nil && a.Rank.Position > 1 {
			reasons = append(reasons, rankReason(st, a, j))
		}
	} else if a.Rank != nil && len(reasons) > 0 && reasons[0].Code != why.NoNodes && reasons[0].Code != why.FitNever {
		reasons = append([]why.Reason{rankReason(st, a, j)}, reasons...)
	} else if a.Rank == nil && (len(reasons) == 0 || onlyCapacity(closed)) {
		reasons = append([]why.Reason{limitReason(a.Gates)}, reasons...)
	} else if len(reasons) == 0 {
		reasons = []why.Reason{rankReason(st, a, j)}
	}
	a.Reason, a.Others = reasons[0], reasons[1:]
	nextStep(st, a, s, j, blockers)
	announceStarvation(st, a, s, j)
	a.Verdict = verdictOf(a.Reason)
	a.Others = append(a.Others, starvingReason(st, j.Pool, a.At)...)
	leadRefused(st, a, j, own)
}

// nextStep sets the advice that belongs to the reason, for this job.
func nextStep(st *engine.State, a *why.Answer, s sched.Job, j *queue.Job, blockers []string) {
	switch a.Reason.Code {
	case why.FitNever:
		a.Reason.Next = cmp.Or(engine.WhoCould(st.Core, s), a.Reason.Next)
	case why.NoNodes:
		a.Reason.Next = cmp.Or(st.InForce.WhichBridge(st.Core), a.Reason.Next)
	case why.GateHeld:
		a.Reason.Next = cmp.Or(whoReleases(j), a.Reason.Next)
	case why.GateAfter:
		a.Reason.Next = cmp.Or(askBlocker(blockers), a.Reason.Next)
	}
	if a.Subject.Job > 0 { // a job that is not submitted yet has no number
		a.Reason.Next = strings.ReplaceAll(a.Reason.Next, "JOB", fmt.Sprint(a.Subject.Job))
	}
}

// addPlans adds the evidence of planned starts.
func addPlans(a *why.Answer) {
	if a.Kept != nil {
		a.Kept.AddPlan()
	}
	for i := range a.Gates {
		if k := a.Gates[i].Kept; k != nil {
			k.AddPlan()
		}
	}
}

// limitReason explains why a job is not among the next starts although no gate is closed: the tasks ahead will use
// up a limit on its path.
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
		case g.Where == "users":
			code = gateUser
		case g.Where == "rates":
			code = why.GateRate
		}
		e, _ := why.Explain(code)
		if g.Where == "rates" {
			text := fmt.Sprintf("jobs that go before it will use up the starts of %s (%s): %s now", g.Name, g.Limit, g.Used)
			return why.Reason{Code: code, Text: text, Next: e.Next}
		}
		what := g.Name + " of " + share.Original(g.Where)
		switch g.Where {
		case "licenses":
			what = "license " + strings.TrimPrefix(g.Name, "license ")
		case "users":
			what = "user_limits.running of " + strings.TrimPrefix(g.Name, "running of ")
		}
		text := fmt.Sprintf("jobs that go before it will use up %s: %s of %s in use now", what, g.Used, g.Limit)
		return why.Reason{Code: code, Text: text, Next: e.Next}
	}
	return why.Reason{Code: why.FitNow, Text: "no node has room for it now"}
}

// Startable reports whether an estimate is possible for the job of an answer.
func Startable(a *why.Answer) bool {
	if a.Reason.Code == "" {
		return false
	}
	return a.Verdict == why.AsDesigned || a.Verdict == why.Limited || a.Verdict == why.MayStarve
}

// unitsOf returns the units of an answer's numbers.
func unitsOf(s *engine.State) why.Units {
	u := why.Units{
		AsOf: time.Now(), Unit: s.Core.Cluster().Unit(), Reference: s.Core.Read().Clock().Reference(),
		Growth:          s.Core.Read().Now().Growth,
		HalfLifeSeconds: s.Core.Read().Clock().HalfLife().Seconds(),
	}
	if usage := s.Core.Read().UsageUnit(); usage != u.Unit {
		u.Usage = usage
	}
	return u
}

// maxNodes is the maximum number of nodes that are named for a running job.
const maxNodes = 16

func RunningReason(j *queue.Job, tasks []queue.Task) why.Reason {
	r := why.Reason{
		Code: why.StateRunning,
		Text: fmt.Sprintf("it has run since %s on %s", instant.Text(j.Started),
			holdersOf(tasks, func(t *queue.Task) bool { return !t.Queued })),
		Next: fmt.Sprintf("fairlead logs -f %d", j.ID),
	}
	if left, limited := leftOf(j, tasks, time.Now()); limited {
		r.Text += fmt.Sprintf("; %s of its time limit of %s left", why.Duration(left), units.FormatDuration(j.Limit))
	}
	if n := stopping(tasks); n > 0 {
		r.Text += fmt.Sprintf("; %s of it %s being stopped, and then %s again", units.Plural(n, "task"),
			units.OneOf(n, "is", "are"), units.OneOf(n, "waits", "wait"))
		if n == j.Running {
			r.Next = waitForTheEnd
		}
	}
	if j.Queued > 0 {
		r.Text += fmt.Sprintf("; %s in another queueing system, behind %s", units.Plural(j.Queued, "task")+" of it wait",
			holdersOf(tasks, func(t *queue.Task) bool { return t.Queued }))
	}
	r.Text += canceledOf(j)
	return r
}

// canceledOf says how many tasks of a job that continues were canceled and, if known, who canceled them.
func canceledOf(j *queue.Job) string {
	if j.Cancel || j.Cancelled == 0 {
		return ""
	}
	text := fmt.Sprintf("; %d of its %s %s canceled", j.Cancelled, units.Plural(j.Tasks, "task"),
		units.OneOf(j.Cancelled, "was", "were"))
	if j.Failed == 0 && j.Cause != "" {
		text += " (" + j.Cause + ")"
	}
	return text
}

// leftOf returns how long the oldest running task of a job may still run, if the job has a time limit.
func leftOf(j *queue.Job, tasks []queue.Task, now time.Time) (left time.Duration, limited bool) {
	if j.Limit <= 0 {
		return 0, false
	}
	for i := range tasks {
		if t := &tasks[i]; t.State == queue.Running && !t.Queued && !t.Started.IsZero() {
			if rest := j.Limit - now.Sub(t.Started); !limited || rest < left {
				left, limited = max(0, rest), true
			}
		}
	}
	return left, limited
}

// waitForTheEnd is the advice while tasks are being stopped.
const waitForTheEnd = "wait; if this takes long, check that the node is up: fairlead nodes"

// stopping returns the number of tasks that are being stopped and will wait again: the scheduler stopped them, their
// job was requeued, or its cancel was undone.
func stopping(tasks []queue.Task) (n int) {
	for i := range tasks {
		if t := &tasks[i]; t.State == queue.Running && (t.Stopped || t.Requeue) {
			n++
		}
	}
	return n
}

// QueuedReason explains a job that waits in another queueing system, as far as this server knows: the bridge reports
// that system's own answer.
func QueuedReason(j *queue.Job, tasks []queue.Task) why.Reason {
	since := time.Time{}
	for i := range tasks {
		if t := &tasks[i]; t.State == queue.Running && t.Queued && (since.IsZero() || t.Started.Before(since)) {
			since = t.Started
		}
	}
	return why.Reason{
		Code: why.StateQueued,
		Text: fmt.Sprintf("it was handed to the bridge %s at %s, and waits in the queueing system behind that bridge",
			holdersOf(tasks, func(t *queue.Task) bool { return t.Queued }), instant.Text(since)) + canceledOf(j),
		Next: "wait: it has not begun, and is not charged yet",
	}
}

// CancellingReason explains a canceled job some of whose tasks have not ended.
func CancellingReason(j *queue.Job, tasks []queue.Task) why.Reason {
	return why.Reason{
		Code: why.StateStopping,
		Text: fmt.Sprintf("it was canceled (%s); %s of it %s being ended on %s", cmp.Or(j.Cause, "no reason given"),
			units.Plural(j.Running, "task"), units.OneOf(j.Running, "is", "are"), holdersOf(tasks,
				func(*queue.Task) bool { return true })),
		Next: waitForTheEnd,
	}
}

// holdersOf names the nodes that hold the tasks of a job for which the function "asked" returns true.
func holdersOf(tasks []queue.Task, asked func(*queue.Task) bool) string {
	var where []string
	known := map[string]bool{}
	for i := range tasks {
		if t := &tasks[i]; t.State == queue.Running && asked(t) && !known[t.Holder] {
			known[t.Holder] = true
			where = append(where, t.Holder)
		}
	}
	if n := len(where) - maxNodes; n > 0 {
		where = append(where[:maxNodes], fmt.Sprintf("and %d more nodes", n))
	}
	return strings.Join(where, ", ")
}

// starvingReason returns a reason if no task may be stopped for a starving pool on the path to a leaf.
func starvingReason(s *engine.State, leaf string, now time.Time) []why.Reason {
	var all []why.Reason
	for _, pool := range s.Core.Read().Starving() {
		if x := starvingOf(s, pool); leaf == x.Pool || strings.HasPrefix(leaf, x.Pool+"/") {
			e, _ := why.Explain(why.ReclaimNothing)
			all = append(all, why.Reason{Code: why.ReclaimNothing, Text: x.Text(now), Next: e.Next})
		}
	}
	return all
}
