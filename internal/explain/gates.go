package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// jobGates returns the gates that belong to the job itself.
func jobGates(j *queue.Job, tasks []queue.Task, blockers []string, now time.Time) []why.Gate {
	held := why.Gate{Name: "held", Where: "job", Open: !j.Held}
	if j.Held {
		held.Code, held.Text = why.GateHeld, "the job is "+heldText(j)
	}
	after := why.Gate{Name: "after", Where: "job", Open: j.Pending == 0}
	if j.Pending > 0 {
		after.Code, after.Text = why.GateAfter, "it waits until "+strings.Join(blockers, ", and ")
		if len(blockers) == 0 { // they ended a moment ago, or the job is held, too
			after.Text = "it waits for jobs that it depends on"
		}
	}
	begin := why.Gate{Name: "begin", Where: "job", Open: true}
	if from, task := earliest(j, tasks); from.After(now) {
		begin.Open, begin.Code, begin.Next = false, why.GateBegin, &from
		if begin.Text = "it may begin at " + instant.Text(from); task != nil && task.Attempt > 0 {
			begin.Name, begin.Text = attemptGate, pauseText(from, task)
		}
	}
	return []why.Gate{held, begin, after}
}

// attemptGate is the name of the gate of a task that pauses before its next attempt.
const attemptGate = "next attempt"

// pauseText says until when a task pauses before its next attempt, and why: its handler snoozed it, no node could begin
// it, or it failed.
func pauseText(from time.Time, task *queue.Task) string {
	end, until, cause := task.Outcome, instant.Text(from), ""
	if end.Cause != "" {
		cause = ": " + bounded.Text(end.Cause, maxPauseCause)
	}
	switch {
	case end.State == queue.Cancelled:
		return "its handler postponed it until " + until
	case end.Refused != "":
		return fmt.Sprintf("pause until %s, because %s could not begin it%s", until, task.Holder, cause)
	}
	return fmt.Sprintf("pause before attempt %d until %s, because it failed%s", task.Fails+1, until, cause)
}

// maxPauseCause is the maximum number of bytes that a reason quotes from the cause of a failure.
const maxPauseCause = 120

// heldText says that a job is held and, as far as known, who holds it and why.
func heldText(j *queue.Job) string {
	text := "held"
	if j.HeldBy != "" {
		text += " by " + j.HeldBy
	}
	if j.HeldWhy != "" {
		text += ": " + j.HeldWhy
	}
	return text
}

// whoReleases says what to do if another user holds the job.
func whoReleases(j *queue.Job) string {
	if !j.Held || j.HeldBy == "" || j.HeldBy == j.User {
		return ""
	}
	return fmt.Sprintf("ask %s: only an administrator may release it, with: fairlead release %d", j.HeldBy, j.ID)
}

// earliest returns when the first waiting task of a job may start, and the task if it has started before.
func earliest(j *queue.Job, tasks []queue.Task) (from time.Time, task *queue.Task) {
	from = j.Begin
	started := 0
	for _, t := range tasks {
		started = max(started, t.Index+1)
	}
	found := started < j.Tasks
	for i := range tasks {
		if t := &tasks[i]; t.State == queue.Waiting && (!found || t.Begin.Before(from)) {
			from, task, found = t.Begin, t, true
		}
	}
	return from, task
}

// addHolders adds the holders to the gates of licenses, and the time of opening to the gates of rates.
func addHolders(s *engine.State, gates []why.Gate, now time.Time) {
	for i := range gates {
		g := &gates[i]
		if name, ok := strings.CutPrefix(g.Name, "license "); ok && g.Where == "licenses" {
			g.Holders = s.Runs.Holders(name)
			if len(g.Holders) > 0 && g.Code == why.GateLicense {
				g.Text += ": " + holdersText(g.Holders)
			}
		}
		if g.Code == why.GateRate && g.Next != nil {
			g.Text += ": the next start is in " + why.Duration(g.Next.Sub(now))
		}
	}
}

func holdersText(holders []why.Holder) string {
	var parts []string
	for _, h := range holders {
		jobs := make([]string, len(h.Jobs))
		for i, id := range h.Jobs {
			jobs[i] = fmt.Sprint(id)
		}
		parts = append(parts, fmt.Sprintf("%s has %d (job %s)", h.User, h.Count, strings.Join(jobs, ", ")))
	}
	return strings.Join(parts, "; ")
}

// explainPlanned names the job whose planned start keeps the room that this job needs.
func explainPlanned(gates []why.Gate, limit time.Duration, now time.Time) {
	for i := range gates {
		g := &gates[i]
		if g.Kept == nil {
			continue
		}
		long := "it has no time limit"
		if limit > 0 {
			long = "it may run until " + instant.Text(now.Add(limit))
		}
		kept := "room is kept on " + strings.Join(g.Kept.Nodes, ", ")
		if len(g.Kept.Nodes) == 0 {
			kept = "licenses are held"
		}
		g.Text = fmt.Sprintf("it would fit now, but %s, and %s for job %d from %s",
			long, kept, g.Kept.Job, g.Kept.BeginsAt(instant.Text(g.Kept.From)))
		if !g.Kept.Overdue && !g.Kept.Held {
			g.Text += askForLess(g.Kept.From.Sub(now))
		}
	}
}

// explainWindows explains which reservations and maintenances affect a job. The flag "room" says that a node has room
// for the job now, so that a shorter limit would let the job start; then the text suggests a limit.
func explainWindows(gates []why.Gate, limit time.Duration, room bool, now time.Time) {
	for i := range gates {
		g := &gates[i]
		switch w := g.Window; {
		case g.Code == why.ReservationOver && w == nil:
			g.Text = fmt.Sprintf("its reservation %s is over or was canceled", g.Where)
		case w == nil:
		case g.Open:
			g.Text = fmt.Sprintf("its reservation %s lasts until %s", w.Name, instant.Text(w.To))
		case g.Code == why.GateReservation:
			g.Text = fmt.Sprintf("its reservation %s begins at %s, in %s", w.Name, instant.Text(w.From),
				why.Until(w.From, now))
		case g.Code == why.ReservationOver:
			g.Text = fmt.Sprintf("its limit of %s is longer than the rest of its reservation %s, which ends at %s%s",
				units.FormatDuration(limit), w.Name, instant.Text(w.To), askFor(w))
		default:
			if g.Text = overlapText(w, limit, now); room && w.From.After(now) {
				g.Text += askFor(w)
			}
		}
	}
}

// comesLater reports whether the window in the way of a job is not yet the reason why the job waits. That is so if the
// window has not begun, and no node has room for the job anyway.
func comesLater(g why.Gate, room bool, now time.Time) bool {
	return !room && keepsFree(g.Code) && g.Window != nil && g.Window.From.After(now)
}

// overlapText says that a job would run into a window.
func overlapText(w *why.Window, limit time.Duration, now time.Time) string {
	what := "reservation " + w.Name
	if w.Maintenance {
		what = "maintenance " + w.Name
	}
	if w.From.Sub(now) < time.Second {
		return fmt.Sprintf("the nodes on which it could run are kept by the %s until %s", what, instant.Text(w.To))
	}
	mine := "your limit of " + units.FormatDuration(limit) + " overlaps"
	if limit <= 0 {
		mine = "without a time limit it may run into"
	}
	return fmt.Sprintf("%s the %s starting in %s, at %s, until %s",
		mine, what, why.Until(w.From, now), instant.Text(w.From), instant.Text(w.To))
}

// askFor suggests a time limit that ends before a window, rounded down to a usual value.
func askFor(w *why.Window) string { return askForLess(time.Duration(w.Max * float64(time.Second))) }

// askForLess suggests a time limit below the argument "most", rounded down to a usual value.
func askForLess(most time.Duration) string {
	usual := units.UsualLimit(most)
	if usual == 0 {
		return ""
	}
	return fmt.Sprintf("; ask for %s or less", units.FormatDuration(usual))
}

// keepsFree reports whether a code says that a job must not start although there is room, because the room is kept for
// a later use.
func keepsFree(c why.Code) bool {
	return c == why.FitReserved || c == why.PolicyMaint || c == why.PolicyReservation
}

// severity orders the reasons. First come reasons that never go away, then reasons that only a person can change, then
// reasons that time changes, and last the codes that close no gate. It omits the codes that say why the scheduler
// stopped a task.
var severity = []why.Code{
	why.FitNever, why.LicenseNever, why.GateNever, why.ReservationOver, why.ShareNone, why.GateHeld, why.GatePaused,
	why.NoNodes, startRefused, why.GateAfter,
	why.GateBegin, why.GateReservation, why.GateJobTasks, why.GateMaxTasks, why.GateMax,
	why.GateLicense, why.GateRate, gateUser, why.StarveWidth, why.StarveShare, why.StarveOrder,
	why.PolicyMaint, why.PolicyReservation,
	why.FitReserved, why.FitNow,
	why.CapacityFull, why.ShareBehind, why.OrderBehind, why.ReclaimNothing, why.PoolIdle,
	why.StateStarting, why.StateQueued, why.StateRunning, why.StateStopping, why.StateEnded,
}

// gateUser is the code of a job whose user has reached the maximum of running tasks per user.
const gateUser why.Code = "gate.user_running"

// reasonsOf returns the reasons of closed gates, the most severe first.
func reasonsOf(closed []why.Gate) []why.Reason {
	var out []why.Reason
	for _, g := range closed {
		out = append(out, gateReason(g))
	}
	slices.SortStableFunc(out, func(a, b why.Reason) int {
		return slices.Index(severity, a.Code) - slices.Index(severity, b.Code)
	})
	return out
}

func gateReason(g why.Gate) why.Reason {
	e, _ := why.Explain(g.Code)
	r := why.Reason{Code: g.Code, Text: g.Text, Next: e.Next}
	if g.Name == attemptGate {
		r.Next = "wait"
	}
	if g.Code == why.GateJobTasks {
		r.Text = g.Used + " of its tasks run, as many as may run at once"
	}
	if g.Code == why.GatePaused {
		r.Next = strings.Replace(r.Next, "POOL", g.Where, 1)
		if r.Until = g.Next; r.Until != nil {
			r.Next = strings.Replace(r.Next, "resume it", "resume it earlier", 1)
		}
	}
	if g.Code == why.GateNever && r.Text == "" {
		r.Text = fmt.Sprintf("it asks for %s %s, and %s may have %s", g.Need, strings.TrimPrefix(g.Name, "max "),
			share.Original(g.Where), g.Limit)
	}
	if r.Text == "" {
		r.Text = fmt.Sprintf("%s of %s is full: %s of %s in use", g.Name, share.Original(g.Where), g.Used, g.Limit)
	}
	return r
}

// inWords formats the amounts of gates for people: 4G of memory.
func inWords(gates []why.Gate) []why.Gate {
	for i := range gates {
		g := &gates[i]
		name, ok := strings.CutPrefix(g.Name, "max ")
		if !ok {
			continue
		}
		for _, number := range []*string{&g.Used, &g.Limit, &g.Need} {
			if n, err := strconv.ParseInt(*number, 10, 64); err == nil {
				*number = units.Quantity(name, n)
			}
		}
	}
	return gates
}

func verdictOf(r why.Reason) why.Verdict {
	switch r.Code {
	case why.FitNever, why.LicenseNever, why.GateNever, why.ReservationOver:
		return why.Impossible
	case why.NoNodes, why.ShareNone:
		return why.NeedsAdmin
	case why.StarveWidth, why.StarveShare, why.StarveOrder:
		return why.MayStarve
	case why.GatePaused:
		if r.Until == nil {
			return why.NeedsAdmin
		}
		return why.Limited // it ends by itself
	case why.GateMax, why.GateMaxTasks, why.GateJobTasks, why.GateLicense, why.GateRate, gateUser:
		return why.Limited
	}
	return why.AsDesigned
}

func closedGates(gates []why.Gate) []why.Gate {
	return slices.DeleteFunc(slices.Clone(gates), func(g why.Gate) bool { return g.Open })
}

// telling drops the gate "no node has room" if everything is in use anyway.
func telling(s *engine.State, closed []why.Gate) []why.Gate {
	_, free, _ := s.Core.Read().Capacity()
	return slices.DeleteFunc(slices.Clone(closed), func(g why.Gate) bool { return g.Code == why.FitNow && free[0] == 0 })
}

// onlyCapacity reports whether the job would start if there were room.
func onlyCapacity(closed []why.Gate) bool {
	return !slices.ContainsFunc(closed, func(g why.Gate) bool { return g.Code != why.FitNow && !keepsFree(g.Code) })
}

// lackOfRoom returns why the next job finds no room: everything is in use, or the free part is too small for it.
func lackOfRoom(s *engine.State) why.Code {
	if _, free, _ := s.Core.Read().Capacity(); free[0] > 0 {
		return why.FitNow
	}
	return why.CapacityFull
}
