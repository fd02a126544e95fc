package explain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// ever is later than every event.
var ever = time.Unix(1<<40, 0)

// heldFirst inserts the hold of a job that was submitted held, after the first event. No journal contains this hold.
func heldFirst(j *queue.Job, events []queue.Event) []queue.Event {
	at := slices.IndexFunc(events, func(e queue.Event) bool {
		return e.Code == string(queue.VerbHold) || e.Code == string(queue.VerbRelease)
	})
	if at < 0 && !j.Held || at >= 0 && events[at].Code == string(queue.VerbHold) {
		return events
	}
	return slices.Insert(events, 1, queue.Event{Job: j.ID, Task: -1, At: j.Submitted, Code: string(queue.VerbHold),
		Text: "since its submission"})
}

// heldSpans returns the times during which a job was held.
func heldSpans(events []queue.Event) (all []span) {
	var held bool
	for _, e := range events {
		switch {
		case e.Code == string(queue.VerbHold) && !held:
			all, held = append(all, span{e.At, ever}), true
		case e.Code == string(queue.VerbRelease) && held:
			all[len(all)-1].to, held = e.At, false
		}
	}
	return all
}

// blocked returns the time during which a job waited for its dependencies. If its end is unknown, the result ends at
// the instant "ever".
func (ex *Explainer) blocked(ctx context.Context, j *queue.Job, events []queue.Event) (span, error) {
	s := span{j.Submitted, j.Submitted}
	for _, d := range j.After {
		if j.Pending > 0 {
			s.to = ever
			return s, nil
		}
		met, err := ex.metAt(ctx, d, j.Submitted)
		if err != nil {
			return s, err
		}
		s.to = units.Later(s.to, met)
	}
	for _, e := range events { // it was not blocked any more once it started or was requeued
		if (e.Code == "started" || e.Code == "queued" || e.Code == string(queue.VerbRequeue)) && e.At.Before(s.to) {
			s.to = e.At
		}
	}
	return s, nil
}

// metAt returns the first time after an instant at which the other job ended in a way that meets the dependency.
func (ex *Explainer) metAt(ctx context.Context, d queue.Dependency, after time.Time) (time.Time, error) {
	if k, ok := ex.loop.Store.(queue.Journal); ok {
		events, err := k.Events(ctx, d.Job)
		if err != nil {
			return ever, err
		}
		for _, e := range events {
			state, _, _ := strings.Cut(e.Text, " ")
			if e.Code == queue.EventEnded && d.On.Met(queue.State(strings.TrimSuffix(state, ":"))) && !e.At.Before(after) {
				return e.At, nil
			}
		}
	}
	j, err := ex.loop.Client().Job(ctx, d.Job)
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return ever, nil
	case err != nil || !j.State.Ended():
		return ever, err
	}
	return j.Ended, nil
}

// barred returns the times during which a job could not have started, regardless of the waits of its pool. It also
// returns events for the beginning and the end of the job's own waits: for dependencies, and for its begin time.
func (ex *Explainer) barred(ctx context.Context, j *queue.Job, events []queue.Event) (all []span, own []queue.Event,
	err error) {
	blocked, err := ex.blocked(ctx, j, events)
	if err != nil {
		return nil, nil, err
	}
	begin := span{blocked.to, units.Later(blocked.to, j.Begin)}
	for _, x := range []struct {
		span
		code  why.Code
		text  string
		ready string
	}{
		{blocked, why.GateAfter, "it waits for the end of " + othersOf(j, len(j.After)),
			"its dependencies have ended"},
		{begin, why.GateBegin, "it may begin at " + instant.Text(j.Begin), "its begin time has come"},
	} {
		if x.from.Before(x.to) {
			all = append(all, x.span)
			own = append(own, queue.Event{Job: j.ID, Task: -1, At: x.from, Code: string(x.code), Text: x.text},
				queue.Event{Job: j.ID, Task: -1, At: x.to, Code: EventEligible, Text: x.ready})
		}
	}
	until := time.Now()
	if j.State.Ended() {
		until = j.Ended
	}
	own = slices.DeleteFunc(own, func(e queue.Event) bool { return !e.At.Before(until) })
	return append(all, heldSpans(events)...), own, nil
}

// EventEligible is the code of the moment at which a job no longer waited for dependencies or for its begin time.
const EventEligible = "eligible"

// joined returns the union of the times.
func joined(all []span) (out []span) {
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && !s.from.After(out[last].to) {
			out[last].to = units.Later(out[last].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}
