package web

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/why"
)

// try is the question what would become of a job if it asked for something else: sliders, and
// what the scheduler answers.
type try struct {
	Unit     string
	Limit    slider // seconds
	Units    slider
	Pool     string // in place of the job's
	Priority string
	Pools    []string

	Asked   bool
	Answer  *tried
	Figure  plot.Figure
	Problem string
	// Command asks the same at the terminal.
	Command string
}

// tried is what the scheduler answers.
type tried struct{ *why.WhatIf }

// Sooner is by how many seconds it would start sooner; 0 if it would not.
func (t *tried) Sooner() float64 {
	if t.Seconds == nil || *t.Seconds < 1 {
		return 0
	}
	return *t.Seconds
}

// Later is by how many seconds it would start later; 0 if it would not.
func (t *tried) Later() float64 {
	if t.Seconds == nil || *t.Seconds > -1 {
		return 0
	}
	return -*t.Seconds
}

// slider is a number between bounds.
type slider struct {
	From, To, Step, Value float64
	Now                   float64 // what the job asks for
	Changed               bool
}

// poolsOffered bounds the list of other pools: what is longer is typed.
const poolsOffered = 300

// tryOf reads what is asked, and asks the scheduler. The answer is not kept up to date: it is
// asked anew when a slider moves.
func tryOf(ctx context.Context, src Source, j *Job, r *Request) *try {
	job := &j.Job
	t := &try{Unit: j.Why.Units.Unit}
	t.Limit = limitSlider(job.LimitSeconds)
	now := float64(max(1, job.Request[t.Unit]))
	t.Units = slider{From: 1, To: max(8, 2*now), Step: 1, Value: now}
	t.Limit.read(r.Query, "t", job.LimitSeconds)
	t.Units.read(r.Query, "c", now)
	t.Pool, t.Priority = r.Word("pool"), r.Word("priority")
	if r.Live {
		return t
	}
	t.Pools = poolsFor(ctx, src)
	v, words := t.variation(job.Pool)
	if len(words) == 0 {
		return t
	}
	t.Asked = true
	t.Command = fmt.Sprintf("fairlead why %d --what-if %q", job.ID, strings.Join(words, ","))
	w, err := src.WhatIf(ctx, job.ID, v)
	if err != nil {
		t.Problem = api.FromError(err).Detail
		return t
	}
	t.Answer = &tried{w}
	t.Figure = plot.Spans{Width: 620, Rows: []plot.Span{spanOf("as it is", w.Before.Start, w.At), spanOf("changed so", w.After.Start, w.At)}}
	return t
}

// variation is what is asked for, and the words of --what-if for it.
func (t *try) variation(pool string) (v api.Variation, words []string) {
	if t.Limit.Changed {
		v.LimitSeconds = &t.Limit.Value
		words = append(words, "t="+units.FormatDuration(time.Duration(t.Limit.Value*float64(time.Second))))
	}
	if t.Units.Changed {
		v.Request = map[string]int64{t.Unit: int64(t.Units.Value)}
		word := "request=" + t.Unit + "="
		if t.Unit == "cpu" {
			word = "cpus="
		}
		words = append(words, word+strconv.FormatInt(int64(t.Units.Value), 10))
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

// limitSlider reaches to twice the limit, in round steps of a twenty-fourth of it.
func limitSlider(limit float64) slider {
	base := limit
	if base <= 0 {
		base = 24 * 3600
	}
	step := 60.0
	for _, s := range []float64{60, 300, 900, 1800, 3600, 7200, 14400, 43200, 86400} {
		if s <= base/8 {
			step = s
		}
	}
	s := slider{From: step, To: math.Ceil(2*base/step) * step, Step: step, Value: limit}
	if limit <= 0 {
		s.Value = s.To
	}
	return s
}

// read takes the value from the address, if it is there and another one.
func (s *slider) read(q url.Values, name string, now float64) {
	s.Now = s.Value
	v, err := strconv.ParseFloat(q.Get(name), 64)
	if err != nil || math.IsNaN(v) || v < s.From || v > s.To || v == now {
		return
	}
	s.Value, s.Changed = v, true
}

// poolsFor are the pools into which a job may be put.
func poolsFor(ctx context.Context, src Source) []string {
	shares, err := src.Shares(ctx, "")
	if err != nil || len(shares.Pools) > poolsOffered {
		return nil
	}
	var out []string
	for _, p := range leavesOf(shares.Pools) {
		out = append(out, p.Path)
	}
	return out
}

// verb is something that can be done to jobs.
type verb struct {
	Name, Says string
	Harm       bool
}

var allVerbs = []verb{{"hold", "Hold", false}, {"release", "Release", false}, {"requeue", "Requeue", true}, {"cancel", "Cancel", true}}

// verbsFor are those that make sense for a job in its state, for somebody who may.
func verbsFor(j *api.Job, may bool) []verb {
	if !may {
		return nil
	}
	var out []verb
	state := fairlead.State(j.State)
	for _, v := range allVerbs {
		switch v.Name {
		case "hold":
			if j.Held || state.Ended() || j.Waiting == 0 && state != fairlead.Blocked {
				continue
			}
		case "release":
			if !j.Held || state.Ended() {
				continue
			}
		case "requeue":
			if state != fairlead.Queued && state != fairlead.Running && !state.Ended() {
				continue
			}
		case "cancel":
			if state.Ended() {
				continue
			}
		}
		out = append(out, v)
	}
	return out
}
