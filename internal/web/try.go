package web

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// try is a what-if: sliders for changes of a job, and the forecast of the scheduler.
type try struct {
	Unit     string
	Limit    stops
	Units    stops
	Pool     string // in place of the job's
	Priority string
	Pools    []string

	Asked   bool
	Over    string // the reason if the user can ask nothing any more
	Answer  *tried
	Figure  plot.Figure
	Problem string
	// Command asks the same at the terminal.
	Command string
	// Apply is the address of the action that makes the change to the waiting job, and Makes is the text of its
	// button. Apply is empty if the change takes several actions, or another submission.
	Apply, Makes string
}

// tried is the answer of the scheduler.
type tried struct{ *why.WhatIf }

// Sooner returns how many seconds sooner the job would start, or 0.
func (t *tried) Sooner() float64 {
	if t.Seconds == nil || *t.Seconds < 1 {
		return 0
	}
	return *t.Seconds
}

// Later returns how many seconds later the job would start, or 0.
func (t *tried) Later() float64 {
	if t.Seconds == nil || *t.Seconds > -1 {
		return 0
	}
	return -*t.Seconds
}

// poolsOffered bounds the list of other pools: if there are more, users type the name.
const poolsOffered = 300

// asks reports whether an address asks a what-if.
func asks(r *Request) bool {
	return slices.ContainsFunc([]string{"t", "c", "pool", "priority"},
		func(name string) bool { return r.Word(name) != "" })
}

// tryOf reads the question, and asks the scheduler. The answer is not updated; moving a slider asks again.
func tryOf(ctx context.Context, src Source, job *api.Job, unit string, r *Request) *try {
	if job.State != string(queue.Waiting) {
		if !asks(r) {
			return nil
		}
		state := job.State
		if state == string(queue.Cancelled) {
			state = "canceled"
		}
		return &try{Over: fmt.Sprintf("Job %d is %s by now. A what-if needs a waiting job.", job.ID, state)}
	}
	t := &try{Unit: unit, Pool: r.Word("pool"), Priority: r.Word("priority")}
	seconds, badLimit := readLimit(r.Word("t"), job.LimitSeconds)
	units, badUnits := readUnits(r.Word("c"), max(1, job.Request[t.Unit]))
	t.Limit = limitStops(job.LimitSeconds, seconds)
	t.Units = unitStops(max(1, job.Request[t.Unit]), units)
	if badLimit != "" {
		t.Limit.refuse(r.Word("t"))
	}
	if badUnits != "" {
		t.Units.refuse(r.Word("c"))
	}
	if r.Live {
		return t
	}
	t.Pools = poolsFor(ctx, src)
	if t.Problem = strings.TrimPrefix(badLimit+"; "+badUnits, "; "); t.Problem != "" {
		t.Problem = strings.TrimSuffix(t.Problem, "; ")
		return t
	}
	v, changes := t.variation(job.Pool, seconds, units)
	if len(changes) == 0 {
		return t
	}
	t.Asked = true
	t.Command = fmt.Sprintf("fairlead why %d --what-if %q", job.ID, strings.Join(changes, ","))
	w, err := src.Jobs.WhatIf(ctx, job.ID, v)
	if err != nil {
		t.Problem = api.FromError(err).Detail
		return t
	}
	t.Answer = &tried{w}
	t.apply(job, v, len(changes), r.Root+"act?")
	t.Figure = plot.Spans{Width: 620, Rows: []plot.Span{spanOf("unchanged", w.Before.Start, w.At),
		spanOf("changed", w.After.Start, w.At)}}
	return t
}

// apply finds the action that makes a change of n fields, at the address for actions.
func (t *try) apply(job *api.Job, v api.Variation, n int, act string) {
	id := strconv.FormatInt(job.ID, 10)
	switch {
	case n != 1:
	case v.Priority != nil:
		t.Makes = "Set priority " + *v.Priority
		t.Apply = act + url.Values{"verb": {"prioritise"}, "job": {id}, "priority": {*v.Priority}}.Encode()
	case job.Running > 0: // its tasks have the old limit, and use the old pool
	case v.Pool != nil:
		t.Makes = "Move to " + *v.Pool
		t.Apply = act + url.Values{"verb": {"move"}, "job": {id}, "to": {*v.Pool}}.Encode()
	case v.LimitSeconds != nil:
		t.Makes = "Set limit " + limitWords(*v.LimitSeconds)
		t.Apply = act + url.Values{"verb": {"limit"}, "job": {id}, "limit": {fmt.Sprint(*v.LimitSeconds)}}.Encode()
	}
}

// limitWords writes a time limit of a request.
func limitWords(seconds float64) string {
	switch {
	case seconds < 0:
		return "none"
	case seconds == 0:
		return "of its pool"
	}
	return words.Limit(seconds)
}

// variation returns the requested change, and the words of --what-if for it.
func (t *try) variation(pool string, seconds float64, units int64) (v api.Variation, words []string) {
	if t.Limit.Changed() {
		v.LimitSeconds = &seconds
		words = append(words, "t="+t.Limit.Value)
	}
	if t.Units.Changed() {
		v.Request = map[string]int64{t.Unit: units}
		word := "request=" + t.Unit + "="
		if t.Unit == "cpu" {
			word = "cpus="
		}
		words = append(words, word+t.Units.Value)
	}
	if t.Pool != "" && t.Pool != pool {
		v.Pool = &t.Pool
		words = append(words, "pool="+t.Pool)
	}
	if t.Priority != "" {
		v.Priority = &t.Priority
		words = append(words, "priority="+t.Priority)
	}
	return v, words
}

// poolsFor returns the pools into which a job may be put.
func poolsFor(ctx context.Context, src Source) []string {
	shares, err := src.Pools.Shares(ctx, "")
	if err != nil || len(shares.Pools) > poolsOffered {
		return nil
	}
	var out []string
	for _, p := range leavesOf(shares.Pools) {
		out = append(out, p.Path)
	}
	return out
}

// spanOf draws an estimate.
func spanOf(name string, e *why.Estimate, now time.Time) plot.Span {
	s := plot.Span{Name: name}
	if e == nil {
		s.Text = "no estimate"
		return s
	}
	s.Text = instant.ByClock(e.Text, now)
	if e.By != nil {
		by := max(0, e.By.Sub(now).Seconds())
		s.By = &by
	}
	if e.Replays > 0 && e.Early != nil {
		s.Likely = true
		s.Early, s.Middle, s.Late = e.Early.Sub(now).Seconds(), e.Middle.Sub(now).Seconds(), e.Late.Sub(now).Seconds()
	}
	return s
}
