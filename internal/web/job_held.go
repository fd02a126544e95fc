package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// heldList holds the reasons that held a job back: as a picture, summed up by reason, and as a list of time
// spans.
type heldList struct {
	Picture plot.Figure
	Sums    []heldSum
	Spans   []heldSpan // the last spans
	More    int        // the number of earlier spans
}

// heldSpan is a time span in which one reason held a job back.
type heldSpan struct {
	Code, Text string
	From, To   time.Time
}

// Seconds returns the length of the span.
func (s heldSpan) Seconds() float64 { return s.To.Sub(s.From).Seconds() }

// heldSum is the total time for which one reason held a job back.
type heldSum struct {
	Code, Says string
	Times      int
	Seconds    float64
	Part       float64 // of the time from the submission to the end
}

// heldRows is the maximum number of listed spans. The picture shows all: a server keeps a few hundred changes
// of a pool's reasons.
const heldRows = 40

// unknownReason stands for a wait without a recorded reason: before the first check of the reasons, between two
// attempts, or before the server was started.
const unknownReason = "waits"

// heldOf makes the list from the events of a job.
func heldOf(j *api.Job, events []api.Event, now time.Time) heldList {
	var l heldList
	spans := heldSpans(j, events, now)
	if len(spans) == 0 {
		return l
	}
	all := 0.0
	for _, s := range spans {
		all += s.Seconds()
		at := slices.IndexFunc(l.Sums, func(x heldSum) bool { return x.Code == s.Code })
		if at < 0 {
			at = len(l.Sums)
			l.Sums = append(l.Sums, heldSum{Code: s.Code, Says: meaningOf(s.Code)})
		}
		l.Sums[at].Times++
		l.Sums[at].Seconds += s.Seconds()
	}
	if all > 0 {
		for i := range l.Sums {
			l.Sums[i].Part = l.Sums[i].Seconds / all
		}
	}
	l.Picture = heldPicture(l.Sums, spans, now)
	l.More = max(0, len(spans)-heldRows)
	l.Spans = spans[l.More:]
	return l
}

// meaningOf returns the meaning of a code.
func meaningOf(code string) string {
	all := why.Codes()
	if i := slices.IndexFunc(all, func(e why.Explanation) bool { return string(e.Code) == code }); i >= 0 {
		return all[i].Meaning
	}
	return "It waits; the server has no record of the reason."
}

// heldPicture draws a row for each reason, so that the picture is readable without colors.
func heldPicture(sums []heldSum, spans []heldSpan, now time.Time) plot.Figure {
	g := plot.Gantt{
		Width: 1180, X: plot.Axis{Unit: plot.Clock, From: seconds(spans[0].From), To: seconds(spans[len(spans)-1].To),
			Zone: time.Local},
		Height: max(52, float64(len(sums))*26), Plain: true,
	}
	g.X.To = max(g.X.To, g.X.From+10) // the clock has no ticks below a second
	for _, s := range sums {
		g.Rows, g.Keys = append(g.Rows, s.Code), append(g.Keys, s.Code)
	}
	for _, s := range spans {
		g.Boxes = append(g.Boxes, plot.Box{
			Row: slices.Index(g.Rows, s.Code), From: seconds(s.From), To: seconds(s.To), Key: s.Code, Label: plot.Duration(s.Seconds()),
			Tip: fmt.Sprintf("%s: %s\n%s, from %s until %s", s.Code, instant.ByClock(s.Text, now),
				plot.Duration(s.Seconds()), instant.Clock(s.From, now), instant.Clock(s.To, now)),
		})
	}
	return g
}

// holding tracks the state of a job through its events.
type holding struct {
	array  bool         // the job has several tasks: it runs while one of them runs
	tasks  map[int]bool // of an array: the tasks that run; -1 is its first attempt, if the task is unknown
	begun  map[int]bool // of an array: the tasks that do not wait
	all    int          // tasks of the job
	reason api.Event
	held   bool
	queued bool
	runs   bool
	over   bool
}

// briefGap is the longest time without a running task during which an array still counts as running, because its next
// task takes the place of the last one.
const briefGap = 5 * time.Second

// briefly reports whether the first of some events is the end of a task, and another one starts soon.
func (h *holding) briefly(events []api.Event) bool {
	if !slices.Contains([]string{"finished", "again", "lost", "refused", "stopped"}, events[0].Code) {
		return false
	}
	for i := range events {
		if events[i].At.Sub(events[0].At) > briefGap {
			return false
		}
		if events[i].Code == "started" {
			return true
		}
	}
	return false
}

// task notes the start or the end of a task of an array.
func (h *holding) task(e *api.Event, runs bool) {
	if h.tasks == nil {
		h.tasks = map[int]bool{}
	}
	delete(h.tasks, -1)
	if h.tasks[e.Task] = true; !runs {
		delete(h.tasks, e.Task)
	}
	h.runs = len(h.tasks) > 0
	if h.begun == nil {
		h.begun = map[int]bool{}
	}
	if h.begun[e.Task] = true; !runs && e.Code != "finished" {
		delete(h.begun, e.Task)
	}
}

// waiting returns how many tasks of an array wait, as far as its events tell.
func (h *holding) waiting() int {
	begun := len(h.begun)
	if h.begun[-1] && begun > 1 { // one of the others is the first attempt
		begun--
	}
	return h.all - begun
}

// heldSpans returns the time spans and their reasons, without gaps except where the job had ended. The
// reasons are those of the first job in its pool.
func heldSpans(j *api.Job, events []api.Event, now time.Time) []heldSpan {
	events = withFirstStart(j, events)
	h := holding{array: j.Tasks > 1, all: j.Tasks}
	none := noneWaits(j, events)
	var out []heldSpan
	for i := range events {
		e := &events[i]
		h.apply(e)
		h.runs = h.runs || h.array && h.briefly(events[i:])
		if j.Ended != nil && !e.At.Before(*j.Ended) {
			h.over = true
		}
		until := now
		if j.Ended != nil {
			until = *j.Ended
		}
		if i+1 < len(events) {
			until = units.Earlier(until, events[i+1].At)
		}
		if !none.IsZero() && !e.At.Before(none) {
			h.all = 0
		}
		code, text := h.now()
		if code == "" || !until.After(e.At) {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Code == code && out[last].To.Equal(e.At) {
			out[last].To, out[last].Text = until, text
			continue
		}
		out = append(out, heldSpan{Code: code, Text: text, From: e.At, To: until})
	}
	return sampled(out, now)
}

// noneWaits returns when the last waiting task of a job started, or was canceled. It is zero if tasks still wait.
func noneWaits(j *api.Job, events []api.Event) (last time.Time) {
	if j.Waiting > 0 {
		return time.Time{}
	}
	for i := range events {
		if code := events[i].Code; code == "started" || code == string(queue.VerbCancel) {
			last = events[i].At
		}
	}
	return last
}

// sampleGap bounds the time between two samples of the reasons, for leases of up to 80 s: see [explain.Explainer].
const sampleGap = 10 * time.Second

// sampled assigns the reason of the first sample of a wait to the time before that sample, as the sums of reasons do.
// If a wait has no sample yet, its text says so. A job that starts at once has no wait.
func sampled(spans []heldSpan, now time.Time) (out []heldSpan) {
	for i, s := range spans {
		brief := s.Code == unknownReason && s.Text == notRecorded && s.To.Sub(s.From) <= sampleGap
		if brief && i+1 < len(spans) && spans[i+1].From.Equal(s.To) && isReason(spans[i+1].Code) {
			spans[i+1].From = s.From
			continue
		}
		atOnce := brief && i == 0 && s.To.Sub(s.From) < time.Second
		if atOnce && len(spans) > 1 && spans[1].Code == string(why.StateRunning) {
			continue
		}
		if brief && i+1 == len(spans) && s.To.Equal(now) {
			s.Text = "the server records the reason within some seconds"
		}
		out = append(out, s)
	}
	return out
}

// isReason reports whether the code of a span is a sampled reason. States and holds are known from events.
func isReason(code string) bool {
	return strings.Contains(code, ".") && !strings.HasPrefix(code, "state.") && code != string(why.GateHeld)
}

// notRecorded is the text for a wait without a record.
const notRecorded = "no record of the reason"

// withFirstStart adds the first start of a job, because its tasks record only their last attempts.
func withFirstStart(j *api.Job, events []api.Event) []api.Event {
	if j.Started == nil || slices.ContainsFunc(events,
		func(e api.Event) bool { return e.Code == "started" && !e.At.After(*j.Started) }) {
		return events
	}
	events = append(slices.Clone(events), api.Event{Job: j.ID, Task: -1, At: *j.Started, Code: "started",
		Text: "its first attempt"})
	slices.SortStableFunc(events, func(a, b api.Event) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return events
}

// apply updates the state by an event.
func (h *holding) apply(e *api.Event) {
	switch e.Code {
	case string(queue.VerbHold):
		h.held = true
	case string(queue.VerbRelease):
		h.held = false
	case "started":
		h.runs, h.queued, h.over = true, false, false
		if h.array {
			h.task(e, true)
		}
	case "queued":
		h.queued = true
	case "again", "lost", "refused", "stopped":
		if h.array {
			h.task(e, false)
		} else {
			h.runs, h.queued, h.reason = false, false, api.Event{}
		}
	case queue.EventEnded:
		h.over = true
	case explain.EventEligible:
		h.reason = api.Event{}
	case string(queue.VerbUncancel):
		if h.over {
			*h = holding{array: h.array, all: h.all, held: h.held}
		}
	case string(queue.VerbRequeue):
		*h = holding{array: h.array, all: h.all, held: h.held}
	case string(queue.VerbMove):
		h.reason = api.Event{} // that was the reason of the former pool
	case unknownReason:
		h.reason = *e
	case "finished":
		if h.over = !h.array; h.array {
			h.task(e, false)
		}
	default:
		if strings.Contains(e.Code, ".") {
			h.reason = *e
		}
	}
}

// others says for how many tasks of an array with running tasks a reason holds.
func (h *holding) others() string {
	run := len(h.tasks)
	if run == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s, %d %s: ", units.Plural(run, "task"), units.OneOf(run, "runs", "run"), h.waiting(),
		units.OneOf(h.waiting(), "waits", "wait"))
}

// now returns the present reason: a code, and words.
func (h *holding) now() (code, text string) {
	switch {
	case h.over:
		return "", ""
	case h.runs && h.array && h.waiting() > 0 && h.held:
		return string(why.GateHeld), h.others() + "it is held"
	case h.runs && h.array && h.waiting() > 0 && h.reason.Code != "":
		return h.reason.Code, h.others() + h.reason.Text
	case h.runs && h.array:
		return string(why.StateRunning), "some of its tasks run"
	case h.runs:
		return string(why.StateRunning), "it runs"
	case h.queued:
		return string(why.StateQueued), "it waits in another queueing system"
	case h.held:
		return string(why.GateHeld), "it is held"
	case h.reason.Code != "":
		return h.reason.Code, h.reason.Text
	}
	return unknownReason, notRecorded
}
