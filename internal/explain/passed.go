package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// passable are the codes of waits that never end if other jobs pass the job again and again.
var passable = []why.Code{
	why.CapacityFull, why.FitNow, why.ShareBehind, why.OrderBehind, why.GateMax, why.GateMaxTasks, why.GateLicense,
}

// announceStarvation makes starvation the first reason if other jobs can pass the job forever.
func announceStarvation(st *engine.State, a *why.Answer, s sched.Job, j *queue.Job) {
	if !slices.Contains(passable, a.Reason.Code) {
		return
	}
	if r, starves := passedReason(st, s, j); starves {
		first := a.Reason
		first.Next = ""
		a.Reason, a.Others = r, append([]why.Reason{first}, a.Others...)
	}
}

// passedReason says that others can pass a job forever, which setting allows that, and what to do. If codes are given,
// other reasons do not count.
func passedReason(st *engine.State, s sched.Job, j *queue.Job, codes ...why.Code) (r why.Reason, starves bool) {
	g, starves := st.Core.GateView().Starves(s, codes...)
	if !starves {
		return r, false
	}
	text, next := passedText(g)
	if g.Name == "priority" {
		next = raise(st, "raise its priority: ", j)
		next = strings.TrimPrefix(next+
			"; or ask the administrator for priorities_as: weights, or under fifo for another policy", "; or ")
	}
	e, _ := why.Explain(g.Code)
	return why.Reason{Code: g.Code, Text: text + "; " + g.Text, Next: cmp.Or(next, e.Next)}, true
}

// passedText says how others pass a job, by the gate that shows it, and what to do if the usual advice for the code
// does not fit.
func passedText(g why.Gate) (text, next string) {
	const ever = "can pass it forever"
	amount, _ := strconv.ParseInt(g.Need, 10, 64)
	less := fmt.Sprintf("jobs that ask for less than its %s %s", units.Amount(g.Limit, amount), ever)
	at := engine.RootName(strings.TrimPrefix(g.Where, "root"))
	switch {
	case g.Name == "licenses":
		return fmt.Sprintf("jobs that ask for fewer than its %s of the license %s %s, because %s keeps none for it", g.Need,
				g.Limit, ever, g.Where),
			"ask the administrator for backfill: easy, which keeps licenses for it, or for more licenses"
	case g.Name == "choice":
		return fmt.Sprintf("%s: the policy of %s chooses a new first job whenever a task ends, and fcfs keeps no room",
			less, at), ""
	case g.Name == "backfill_window":
		return less + ": its planned start would be later than backfill_window, so no room is kept for it",
			"ask the administrator for a longer backfill_window, or ask for less"
	case g.Name == "maximum":
		return fmt.Sprintf("%s below the maximum of %s, where no room is kept for it", less, at), fmt.Sprintf(
			"ask the administrator for a higher maximum of %s or for another pool, or ask for less", at)
	case g.Name == "priority":
		return fmt.Sprintf("jobs of a higher priority that come later %s in %s, where priorities are an order", ever, at), ""
	case g.Name == "weight":
		return fmt.Sprintf("its pool, or one above it, has the weight 0 in %s, and jobs of the other pools there %s", at,
				ever),
			"ask the administrator for a weight above 0, or for another pool"
	case g.Name == "target":
		return fmt.Sprintf("its pool, or one above it, is entitled to less than a slot in %s, and jobs of the other pools "+
			"there %s", at, ever), "ask the administrator for a larger load, or for another pool"
	case g.Name == "unused share":
		return fmt.Sprintf("jobs of pools in %s with a larger share %s, because these pools never use it up", at, ever),
			"ask the administrator for a larger weight of its pool, or for another policy, such as fair"
	case g.Name == "license order":
		return fmt.Sprintf("jobs that wait for the license %s %s in %s, whose policy counts a wait for a license as lag",
				g.Limit, ever, at),
			"ask the administrator for another policy, such as fair, or for more licenses"
	case g.Name == "factors":
		return fmt.Sprintf("jobs that come later %s in %s, because their factors add more than the factor age "+
				"ever can", ever, at),
			"ask the administrator for a larger weight of age under multifactor, or raise its priority"
	}
	return less + ", because first-fit keeps no room for it", ""
}
