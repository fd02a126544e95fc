package explain

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// History returns the events of a job, oldest first.
func (ex *Explainer) History(ctx context.Context, id int64) ([]queue.Event, error) {
	j, err := ex.loop.Client().Job(ctx, id)
	if err != nil {
		return nil, err
	}
	tasks, err := ex.loop.Store.Tasks(ctx, id)
	if err != nil {
		return nil, err
	}
	return ex.HistoryOf(ctx, j, tasks)
}

// HistoryOf is History for a caller that has already read the job and its tasks: a job may have many tasks.
func (ex *Explainer) HistoryOf(ctx context.Context, j *queue.Job, tasks []queue.Task) ([]queue.Event, error) {
	var reported reported
	events := []queue.Event{{Job: j.ID, Task: -1, At: j.Submitted, Code: "submitted",
		Text: "by " + j.User + " into " + share.Original(j.Pool)}}
	if k, ok := ex.loop.Store.(queue.Journal); ok {
		more, err := k.Events(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		events = append(events, reported.dropRepeats(more)...)
	}
	shorten(j, events)
	over := slices.ContainsFunc(events, func(e queue.Event) bool { return e.Code == queue.EventEnded })
	for i, e := range events {
		if at, found := slices.BinarySearchFunc(tasks, e.Task,
			func(t queue.Task, index int) int { return t.Index - index }); found {
			events[i].Text = taskName(j, &tasks[at]) + e.Text
		}
	}
	events = slices.Grow(events, 2*len(tasks))
	for i := range tasks {
		events = taskEvents(events, j, &tasks[i], &reported)
	}
	if j.State.Ended() && !endIsReported(j, events) {
		events = append(events, j.EndEvent())
	}
	events = heldFirst(j, inTime(events))
	spans, own, err := ex.barred(ctx, j, events)
	if err != nil {
		return nil, err
	}
	if over {
		spans = append(spans, formerLives(events)...)
	}
	began, spans := allStarted(j, events), joined(spans)
	for _, s := range stays(j, events) {
		if s.pool != "" {
			own = append(own, ex.reasons.since(s.during(j, began), spans)...)
		}
	}
	return inTime(append(events, own...)), nil
}

// endIsReported reports whether the last event is the end of a job's only task, and so the end of the job. The events
// are not sorted yet.
func endIsReported(j *queue.Job, events []queue.Event) bool {
	last := events[len(events)-1]
	return j.Tasks == 1 && last.Code == "finished" && last.At.Equal(j.Ended)
}

// formerLives returns an interval for each time that an ended job was made to wait again. The interval begins at the
// job's start or, if none of its tasks had started, at the job's end. It ends when the job was made to wait again.
// During these intervals the job waited for nothing.
func formerLives(events []queue.Event) (all []span) {
	var life span
	over := false
	for _, e := range events {
		switch e.Code {
		case "started", "queued", queue.EventEnded:
			if life.from.IsZero() {
				life.from = e.At
			}
			over = over || e.Code == queue.EventEnded
		case string(queue.VerbRequeue), string(queue.VerbUncancel):
			if over {
				life.to = e.At
				all = append(all, life)
				life, over = span{}, false
			}
		}
	}
	return all
}

// inTime sorts events by time; the order within one instant stays. It sorts small keys, because events are large and an
// array has many.
func inTime(events []queue.Event) []queue.Event {
	type moment struct {
		at int64
		of int
	}
	order := make([]moment, len(events))
	for i := range events {
		order[i] = moment{events[i].At.UnixNano(), i}
	}
	slices.SortFunc(order, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), a.of-b.of) })
	out := make([]queue.Event, len(events))
	for i, m := range order {
		out[i] = events[m.of]
	}
	return out
}

// taskName returns the prefix for an event of one of several tasks.
func taskName(j *queue.Job, t *queue.Task) string {
	if j.Tasks == 1 {
		return ""
	}
	return "task " + strconv.Itoa(t.Number) + ": "
}

// taskEvents adds the beginning and the end of a task's last attempt, with the name of the task, unless the journal has
// reported them.
func taskEvents(events []queue.Event, j *queue.Job, t *queue.Task, reported *reported) []queue.Event {
	name, last := taskName(j, t), attempt{t.Index, t.Attempt}
	for i, e := range t.Events() {
		if i == 0 && reported.began[last] || i == 1 && reported.ended[last] {
			continue
		}
		e.Text = name + e.Text
		events = append(events, e)
	}
	return events
}

// attempt identifies an attempt of a task.
type attempt struct{ task, number int }

// reported holds the attempts whose beginning a journal has reported, and the attempts whose end it has reported.
type reported struct{ began, ended map[attempt]bool }

// dropRepeats drops journal entries that repeat an earlier entry about an attempt. There are such entries because a
// task that waits for another attempt keeps the end of its last attempt, which the journal has recorded. If the task
// then ends without another attempt, the journal records the end of that last attempt a second time.
func (t *reported) dropRepeats(journal []queue.Event) []queue.Event {
	if len(journal) == 0 {
		return nil
	}
	t.began, t.ended = map[attempt]bool{}, map[attempt]bool{}
	last := map[int]int{} // by task, the attempt that the journal reported last
	return slices.DeleteFunc(journal, func(e queue.Event) bool {
		if e.Task < 0 {
			return false
		}
		if n, is := attemptOf(e); is {
			last[e.Task] = n
		}
		switch of := (attempt{e.Task, last[e.Task]}); e.Code {
		case "started", "queued":
			return seen(t.began, of)
		case "again", "finished":
			return seen(t.ended, of)
		}
		return false
	})
}

// seen adds an attempt to a set, and reports whether it was there already.
func seen(of map[attempt]bool, a attempt) bool {
	was := of[a]
	of[a] = true
	return was
}

// attemptOf parses the number of the attempt at the beginning of a journal entry's text.
func attemptOf(e queue.Event) (n int, is bool) {
	rest, is := strings.CutPrefix(e.Text, "attempt ")
	if !is {
		return 0, false
	}
	word, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(strings.TrimSuffix(word, ","))
	return n, err == nil
}

// shorten shortens the texts of entries about a whole job: it removes the verb of an alteration, because the code says
// the same. If the job was moved, the entry of the submission names the pool into which the job was submitted.
func shorten(j *queue.Job, events []queue.Event) {
	moved := false
	for i := range events {
		e := &events[i]
		if rest, is := strings.CutPrefix(e.Text, e.Code); is && e.Task < 0 &&
			(rest == "" || rest[0] == ' ' || rest[0] == ':') {
			e.Text = strings.TrimLeft(rest, ": ")
		}
		if e.Code == string(queue.VerbMove) && !moved {
			moved = true
			if events[0].Text = "by " + j.User; changedFrom(*e) != "" {
				events[0].Text += " into " + share.Original(changedFrom(*e))
			}
		}
	}
}
