package web

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// The address holds the range of the curves: since and until, as instants. A drag over a picture chooses the
// range; links and a form do the same for the keyboard and for browsers without scripts.

// Without returns the same request without some parameters.
func (r *Request) Without(names ...string) *Request {
	out := *r
	out.Query = url.Values{}
	for k, v := range r.Query {
		if !slices.Contains(names, k) {
			out.Query[k] = v
		}
	}
	return &out
}

// instantForms lists the accepted forms of an instant: exact, or as a form field writes it, in the time zone
// of the server.
var instantForms = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"}

// fieldForm is the form of an instant in a form field.
const fieldForm = "2006-01-02T15:04:05"

func parseInstant(name, text string) (t time.Time, err error) {
	for _, form := range instantForms {
		if t, err = time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	return t, &queue.Invalid{Field: name, Msg: fmt.Sprintf("%.40q is not a time; write it as 2026-11-22T14:30", text)}
}

// oldestRange bounds the age of requested history.
const oldestRange = 10 * 365 * 24 * time.Hour

// chosenRange reads a range; without an end, the range ends now.
func chosenRange(from, to string, now time.Time) (since, until time.Time, err error) {
	until = now
	if since, err = parseInstant("since", from); err != nil {
		return since, until, err
	}
	if to != "" {
		if until, err = parseInstant("until", to); err != nil {
			return since, until, err
		}
	}
	until = units.Earlier(until, now)
	oldest := now.Add(-oldestRange)
	if since.Before(oldest) && until.After(oldest) {
		since = oldest // no older history is kept
	}
	switch {
	case since.Before(oldest):
		return since, until, &queue.Invalid{Field: "since", Msg: "no history of that time"}
	case until.Sub(since) < leastRange:
		return since, until, &queue.Invalid{Field: "since",
			Msg: "must be at least a minute before the end of the range, and before now"}
	}
	return since, until, nil
}

// rangeLink returns the address of the page with a range.
func (r *Request) rangeLink(since, until time.Time) string {
	exactly := func(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }
	q := r.Without("since", "until")
	q.Query.Set("since", exactly(since))
	return q.With("until", exactly(until)) + "#history"
}

// leastShown is the shortest time that a picture shows, and leastRange the shortest that may be chosen.
const (
	leastShown = 5 * time.Minute
	leastRange = time.Minute
)
