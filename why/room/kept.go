package room

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
)

// Kept is a planned start: the time and the room that backfilling keeps for a job.
type Kept struct {
	Job   int64     `json:"job"`
	Nodes []string  `json:"nodes"` // none while only licenses are held
	From  time.Time `json:"from"`
	To    time.Time `json:"to"` // if the job runs up to its time limit or, if it has none, for as long as predicted
	// Predicted means that From rests on predicted run times of tasks without a time limit: so it is no promise.
	Predicted bool `json:"predicted,omitempty"`
	// Overdue means that these tasks have outlived their predictions: the room is free once they end.
	Overdue bool `json:"overdue,omitempty"`
	// Unlimited means that the job has no time limit, so that To is a prediction.
	Unlimited bool `json:"unlimited,omitempty"`
	// Endless are jobs with tasks without a time limit on these nodes, at most three. While such tasks run there, no
	// latest start is known.
	Endless []int64 `json:"endless,omitempty"`
	// First means that the job is the first that finds no room, and Since is when it became the first. With many such
	// jobs, Since is unknown.
	First bool       `json:"first,omitempty"`
	Since *time.Time `json:"since,omitempty"`
	// Owed means that the job took over the turn of an earlier job of its pool, because the pool has received less
	// than its share since that job became the first.
	Owed bool `json:"owed,omitempty"`
	// Held means that the job has waited too long and nodes are held for it: it starts at the latest when the tasks
	// there have ended. HeldFrom is when nodes will be held for it, if known.
	Held     bool       `json:"held,omitempty"`
	HeldFrom *time.Time `json:"held_from,omitempty"`
	// MayMove means that the start was planned in the present order, which changes as time passes: jobs that get ahead
	// of this one delay it.
	MayMove bool `json:"may_move,omitempty"`
	// Expected is when the job is expected to start, if that is later than From. It is later because other jobs are
	// expected to get ahead of the job before or, if From is predicted, because recent run times say so. It is nil if
	// the job is not expected to start later, or if nobody asked for an estimate.
	Expected *time.Time `json:"expected,omitempty"`
	// Units is how many units of the share resource the job takes on the node that lists it.
	Units int64 `json:"units,omitempty"`
	// Plan has the numbers from which From follows, see [Kept.AddPlan].
	Plan *Plan `json:"plan,omitempty"`
	plan func() *Plan
}

// WithPlan sets how to find the plan.
func (k *Kept) WithPlan(plan func() *Plan) *Kept {
	k.plan = plan
	return k
}

// AddPlan adds the plan. The scheduler must not have changed since it made k.
func (k *Kept) AddPlan() *Kept {
	if k.plan != nil {
		k.Plan, k.plan = k.plan(), nil
	}
	return k
}

// Tentative reports whether the start is only a plan in the present order of the jobs, which changes as tasks run. When
// another job gets ahead, the room is kept for that job.
func (k *Kept) Tentative() bool { return k.MayMove && !k.First && !k.Held }

// Begins says from when the room is kept, and marks a predicted instant as predicted.
func (k *Kept) Begins(now time.Time) string { return k.BeginsAt(instant.Clock(k.From, now)) }

// BeginsAt is Begins with From as the caller writes it.
func (k *Kept) BeginsAt(from string) string {
	switch {
	case k.Overdue:
		return "the end of the tasks that run there"
	case k.Predicted || k.Tentative():
		return "about " + from
	}
	return from
}

// Ends says until when the job is planned to run.
func (k *Kept) Ends(now time.Time) string {
	switch until := instant.Clock(k.To, now); {
	case k.Overdue:
		return "its end"
	case k.Unlimited || k.Predicted:
		return "about " + until
	default:
		return until + " at the latest"
	}
}

// Text says where and from when room is kept for the job, since when the job has been first, and how certain the start
// is.
func (k *Kept) Text(now time.Time) string {
	if k.Tentative() {
		return fmt.Sprintf("is planned for it on %s in the present order of the jobs, which changes as tasks run",
			strings.Join(k.Nodes, ", "))
	}
	from, held := instant.Clock(k.From, now), ""
	if k.HeldFrom != nil {
		from, held = instant.Clock(k.From, now, *k.HeldFrom), instant.Clock(*k.HeldFrom, now, k.From)
	}
	nodes, from := strings.Join(k.Nodes, ", "), k.BeginsAt(from)
	text := fmt.Sprintf("is kept for it on %s from %s", nodes, from)
	early := k.Owed && k.Expected != nil // the hold is expected to end early
	switch {
	case k.Held && len(k.Nodes) == 0:
		text = fmt.Sprintf("is not held yet; the licenses that it lacks are held from %s", from)
	case k.Held && early:
		text = "is held for it on " + nodes
	case k.Held && k.Predicted:
		text = fmt.Sprintf("is held for it on %s: other jobs start there only if their time limits end before then, and it "+
			"starts when the tasks that run there have ended", nodes)
		if !k.Overdue {
			text += ", " + from
		}
	case k.Held:
		text = fmt.Sprintf("is held for it on %s: it starts when the tasks there have ended, by %s", nodes, from)
	}
	switch {
	case k.Since == nil:
	case k.Owed:
		text += fmt.Sprintf("; at %s a job of its pool went first but had no room; the room is held until the "+
			"pool has received its share since then", instant.Clock(*k.Since, now))
	default:
		text += fmt.Sprintf("; it has been kept since %s", instant.Clock(*k.Since, now))
	}
	if early {
		text += k.overtaken(now) + k.certainty()
	} else {
		text += k.certainty() + k.overtaken(now)
	}
	if held != "" && k.Predicted && (k.Overdue || k.HeldFrom.After(k.From)) {
		text += fmt.Sprintf("; if it still waits after %s, nodes are held for it", held)
	}
	return text
}

// overtaken says that the job is expected to start later than the room that is kept for it begins.
func (k *Kept) overtaken(now time.Time) string {
	if k.Expected == nil {
		return ""
	}
	at := instant.Clock(*k.Expected, now, k.From)
	switch {
	case k.Predicted && k.Owed:
		return "; the pool is expected to receive it before the tasks there have ended, and the job is expected " +
			"to start at about " + at
	case k.Predicted:
		return "; with recent run times, it is expected to start at about " + at
	case k.Owed:
		return "; the pool is expected to receive it before the tasks there have ended, and the job is expected " +
			"to start by " + at
	}
	return "; other jobs are expected to get ahead of it, so it is expected to start by " + at
}

// certainty says that a predicted start rests on predictions, and why no latest start is known.
func (k *Kept) certainty() string {
	if !k.Predicted {
		return ""
	}
	text := "; that is predicted from tasks like the running ones"
	if k.Overdue {
		text = "; they have run for longer than predicted"
	}
	if len(k.Endless) > 0 {
		jobs := make([]string, len(k.Endless))
		for i, id := range k.Endless {
			jobs[i] = fmt.Sprint(id)
		}
		what := "job "
		if len(jobs) > 1 {
			what = "jobs "
		}
		text += fmt.Sprintf(", and no latest start is known while tasks without a time limit run there (%s%s)", what,
			strings.Join(jobs, ", "))
	}
	return text
}
