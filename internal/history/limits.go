package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
)

// A LimitSeries is the use of a license or a rate over time, and when it becomes free.
type LimitSeries struct {
	Name string `json:"name"`
	Rate bool   `json:"rate,omitempty"` // else it is a license
	// Capacity is the total of a license, or the starts that a rate allows in a step.
	Capacity float64 `json:"capacity"`
	// StepSeconds is the length of a past step.
	StepSeconds float64 `json:"step_seconds"`
	// Past are the means over the steps with use, or for a rate the number of starts; equal neighbors are merged. They
	// are known from Since on.
	Past  []LimitSpan `json:"past"`
	Since time.Time   `json:"since"`
	// Ahead is the amount of a license that running tasks hold, until they end by their time limits. For a rate, Ahead
	// shows how long the tasks that wait now will use up the rate.
	Ahead []LimitSpan `json:"ahead"`
}

// LimitSpan is a time span with its usage. Until is missing if the end of the span is unknown.
type LimitSpan struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"`
	Used  float64   `json:"used"`
	// Peak is the largest amount of a license that was in use in the past span. Otherwise it equals Used.
	Peak float64 `json:"peak"`
}

// LimitSeries returns a time series for each license and rate, as far back as past. The recorder keeps the last day.
func (rc *Recorder) LimitSeries(past time.Duration) []LimitSeries {
	return engine.Read(rc.loop, func(s *engine.State) []LimitSeries {
		now := time.Now()
		s.Core.Advance(now)
		held, limited := s.Core.Read().Quotas()
		past = min(past, engine.LimitMinutes*time.Minute-time.Minute)
		since := now.Add(-past)
		if rc.loop.Made.After(since) {
			since = rc.loop.Made
		}
		out := []LimitSeries{}
		for _, x := range held {
			c := LimitSeries{Name: x.Name, Capacity: float64(x.Total), Since: since, Ahead: heldAhead(s, x.Name, now)}
			step := max(1, int64(past/time.Minute)/engine.LimitPieces)
			c.Past = limitSteps(s, &c, engine.LimitKey{Name: x.Name, Rate: false}, since, now, step)
			c.lastIs(float64(x.Used), now)
			out = append(out, c)
		}
		for _, x := range limited {
			if x.Limit.Count == 0 {
				continue
			}
			c := LimitSeries{Name: x.Name, Rate: true, Since: since, Ahead: []LimitSpan{}}
			step := max(1, int64(past/time.Minute)/engine.LimitPieces, int64((x.Limit.Per+time.Minute-1)/time.Minute))
			each := x.Limit.Per.Seconds() / float64(x.Limit.Count)
			c.Capacity = float64(step*60) / each
			c.Past = limitSteps(s, &c, engine.LimitKey{Name: x.Name, Rate: true}, since, now, step)
			if behind := x.Waiting - x.Left; behind > 0 {
				c.Ahead = append(c.Ahead, LimitSpan{From: now,
					Until: now.Add(time.Duration(float64(behind) * each * float64(time.Second))), Used: c.Capacity, Peak: c.Capacity})
			}
			out = append(out, c)
		}
		return out
	})
}

// limitSteps returns the past steps of a limit; each step lasts the given number of minutes.
func limitSteps(s *engine.State, c *LimitSeries, k engine.LimitKey, since, now time.Time, step int64) []LimitSpan {
	c.StepSeconds = float64(step * 60)
	all := engine.LimitPast{}
	if kept := s.Limits[k]; kept != nil {
		all = *kept
	}
	for _, r := range s.Runs { // the recorded past has no running tasks
		switch {
		case r.Queued:
		case k.Rate && slices.Contains(r.Header.Rates, k.Name):
			all.Add(r.Started.Unix()/60, 1)
		case !k.Rate && r.Header.Licenses[k.Name] > 0:
			all.Hold(r.Started, now, float64(r.Header.Licenses[k.Name]))
		}
	}
	steps := []LimitSpan{}
	for minute := since.Unix() / 60 / step * step; minute <= now.Unix()/60; minute += step {
		from, until := time.Unix(minute*60, 0), time.Unix((minute+step)*60, 0)
		used, peak := 0.0, 0.0
		for i := range step {
			sum, most := all.At(minute + i)
			used, peak = used+sum, max(peak, most)
		}
		if from.Before(since) && !k.Rate {
			from = since
		}
		if until.After(now) {
			until = now
		}
		if !k.Rate {
			used /= max(1, until.Sub(from).Seconds())
			used = min(used, c.Capacity)
			peak = min(max(peak, used), c.Capacity)
		} else {
			peak = used
		}
		if last := len(steps) - 1; last >= 0 && steps[last].Until.Equal(from) && steps[last].Used == used &&
			steps[last].Peak == peak {
			steps[last].Until = until
		} else if used > 0 {
			steps = append(steps, LimitSpan{from, until, used, peak})
		}
	}
	return steps
}

// lastIs raises the peak of a license's current step to the amount in use now.
func (c *LimitSeries) lastIs(used float64, now time.Time) {
	if last := len(c.Past) - 1; last >= 0 && c.Past[last].Until.Equal(now) {
		c.Past[last].Peak = max(c.Past[last].Peak, min(used, c.Capacity))
	}
}

// heldAhead returns the amount of a license that running tasks hold until they end.
func heldAhead(s *engine.State, license string, now time.Time) []LimitSpan {
	type end struct {
		at time.Time // zero if unknown
		n  float64
	}
	var ends []end
	used := 0.0
	for _, r := range s.Runs {
		n := float64(r.Header.Licenses[license])
		if n == 0 {
			continue
		}
		e := end{n: n}
		if used += n; r.Header.Limit > 0 && !r.Queued {
			e.at = r.Started.Add(r.Header.Limit)
		}
		ends = append(ends, e)
	}
	never := now.AddDate(1000, 0, 0)
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(a.at, never).Compare(cmp.Or(b.at, never)) })
	spans := []LimitSpan{}
	for _, e := range ends {
		from := now
		if len(spans) > 0 {
			from = spans[len(spans)-1].Until
		}
		if e.at.IsZero() {
			return append(spans, LimitSpan{From: from, Used: used, Peak: used})
		}
		if e.at.After(from) {
			spans = append(spans, LimitSpan{from, e.at, used, used})
		}
		used -= e.n
	}
	return spans
}
