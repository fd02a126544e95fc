package fairlead

import (
	"cmp"
	"slices"
	"time"
)

// LimitCourse is how much of a licence or of a rate was used over time, and by when it is free again.
type LimitCourse struct {
	Name string `json:"name"`
	Rate bool   `json:"rate,omitempty"` // else it is a licence
	// Capacity is how much there is: of a licence, or starts in a step.
	Capacity float64 `json:"capacity"`
	// StepSeconds is how long the steps of the past are.
	StepSeconds float64 `json:"step_seconds"`
	// Past are means over the steps in which something was used, of a rate how many starts there were;
	// equal ones beside each other are one. They are known since Since.
	Past  []LimitSpan `json:"past"`
	Since time.Time   `json:"since"`
	// Ahead is what running tasks hold of a licence, until they end by their time limits; of a rate
	// how long it is used up by the tasks that wait for it now.
	Ahead []LimitSpan `json:"ahead"`
}

// LimitSpan is a time with what is used in it. Until is missing where nobody knows an end.
type LimitSpan struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"`
	Used  float64   `json:"used"`
}

// How much is kept of the past of limits, in minutes, and of how many limits.
const (
	limitMinutes = 24 * 60
	limitsKept   = 256
	limitPieces  = 120 // about as many steps as a picture has room for
)

// limitPasts is what tasks that have ended used of licences and rates, by minutes of the last day, for as
// long as the loop lives.
type limitPasts map[limitKey]*limitPast

type limitKey struct {
	name string
	rate bool
}

// limitPast is a ring of minutes: seconds of use, or starts.
type limitPast struct {
	used [limitMinutes]float64
	last int64 // the latest minute of which something is kept
}

// note remembers what a task used that has ended.
func (p *limitPasts) note(r *liveRun, ended time.Time) {
	if r.queued {
		return
	}
	for name, n := range r.header.Licenses {
		if x := p.of(limitKey{name, false}); x != nil {
			x.hold(r.started, ended, float64(n))
		}
	}
	for _, name := range r.header.Rates {
		if x := p.of(limitKey{name, true}); x != nil {
			x.add(r.started.Unix()/60, 1)
		}
	}
}

func (p *limitPasts) of(k limitKey) *limitPast {
	if *p == nil {
		*p = limitPasts{}
	}
	x := (*p)[k]
	if x == nil && len(*p) < limitsKept {
		x = &limitPast{}
		(*p)[k] = x
	}
	return x
}

// hold adds a use from an instant until another.
func (x *limitPast) hold(from, until time.Time, n float64) {
	if day := until.Add(-limitMinutes * time.Minute); from.Before(day) {
		from = day
	}
	for from.Before(until) {
		next := from.Truncate(time.Minute).Add(time.Minute)
		if next.After(until) {
			next = until
		}
		x.add(from.Unix()/60, n*next.Sub(from).Seconds())
		from = next
	}
}

// add adds to a minute. What is older than a day is forgotten.
func (x *limitPast) add(minute int64, n float64) {
	if minute <= x.last-limitMinutes {
		return
	}
	for ; x.last < minute; x.last++ {
		if minute-x.last > limitMinutes {
			x.last = minute - limitMinutes
		}
		x.used[(x.last+1)%limitMinutes] = 0
	}
	x.used[minute%limitMinutes] += n
}

// at is what is kept of a minute.
func (x *limitPast) at(minute int64) float64 {
	if minute > x.last || minute <= x.last-limitMinutes {
		return 0
	}
	return x.used[minute%limitMinutes]
}

// LimitCourses are the courses of all licences and rates, over so much of the past. A day is kept.
func (l *Loop) LimitCourses(past time.Duration) []LimitCourse {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.core.Advance(now)
	held, limited := l.core.Tolls()
	past = min(past, limitMinutes*time.Minute-time.Minute)
	since := now.Add(-past)
	if l.made.After(since) {
		since = l.made
	}
	out := []LimitCourse{}
	for _, x := range held {
		c := LimitCourse{Name: x.Name, Capacity: float64(x.Total), Since: since, Ahead: l.heldAhead(x.Name, now)}
		step := max(1, int64(past/time.Minute)/limitPieces)
		c.Past = l.limitSteps(&c, limitKey{x.Name, false}, since, now, step)
		out = append(out, c)
	}
	for _, x := range limited {
		if x.Limit.Count == 0 {
			continue
		}
		c := LimitCourse{Name: x.Name, Rate: true, Since: since, Ahead: []LimitSpan{}}
		step := max(1, int64(past/time.Minute)/limitPieces, int64((x.Limit.Per+time.Minute-1)/time.Minute))
		each := x.Limit.Per.Seconds() / float64(x.Limit.Count)
		c.Capacity = float64(step*60) / each
		c.Past = l.limitSteps(&c, limitKey{x.Name, true}, since, now, step)
		if behind := x.Waiting - x.Left; behind > 0 {
			c.Ahead = append(c.Ahead, LimitSpan{From: now, Until: now.Add(time.Duration(float64(behind) * each * float64(time.Second))), Used: c.Capacity})
		}
		out = append(out, c)
	}
	return out
}

// limitSteps are the steps of the past of a limit, of so many minutes each. The loop is locked.
func (l *Loop) limitSteps(c *LimitCourse, k limitKey, since, now time.Time, step int64) []LimitSpan {
	c.StepSeconds = float64(step * 60)
	all := limitPast{}
	if kept := l.limits[k]; kept != nil {
		all = *kept
	}
	for _, r := range l.runs { // what runs has not been noted
		switch {
		case r.queued:
		case k.rate && slices.Contains(r.header.Rates, k.name):
			all.add(r.started.Unix()/60, 1)
		case !k.rate && r.header.Licenses[k.name] > 0:
			all.hold(r.started, now, float64(r.header.Licenses[k.name]))
		}
	}
	steps := []LimitSpan{}
	for minute := since.Unix() / 60 / step * step; minute <= now.Unix()/60; minute += step {
		from, until := time.Unix(minute*60, 0), time.Unix((minute+step)*60, 0)
		used := 0.0
		for i := range step {
			used += all.at(minute + i)
		}
		if from.Before(since) && !k.rate {
			from = since
		}
		if until.After(now) {
			until = now
		}
		if !k.rate {
			used /= max(1, until.Sub(from).Seconds())
			used = min(used, c.Capacity)
		}
		if last := len(steps) - 1; last >= 0 && steps[last].Until.Equal(from) && steps[last].Used == used {
			steps[last].Until = until
		} else if used > 0 {
			steps = append(steps, LimitSpan{from, until, used})
		}
	}
	return steps
}

// heldAhead is what running tasks hold of a licence until they end. The loop is locked.
func (l *Loop) heldAhead(license string, now time.Time) []LimitSpan {
	type end struct {
		at time.Time // zero if nobody knows
		n  float64
	}
	var ends []end
	used := 0.0
	for _, r := range l.runs {
		n := float64(r.header.Licenses[license])
		if n == 0 {
			continue
		}
		e := end{n: n}
		if used += n; r.header.Limit > 0 && !r.queued {
			e.at = r.started.Add(r.header.Limit)
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
			return append(spans, LimitSpan{From: from, Used: used})
		}
		if e.at.After(from) {
			spans = append(spans, LimitSpan{from, e.at, used})
		}
		used -= e.n
	}
	return spans
}
