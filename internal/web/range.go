package web

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// The range of the curves stands in the address: since and until, as instants. A drag over a
// picture chooses it, and so do links and a form, for keys and for browsers without scripts.

// Without is the same request without some parameters.
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

// instantForms are how an instant may be written: exactly, or as a field of a form does, by the
// clock of the server.
var instantForms = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"}

// fieldForm is how a field of a form has an instant.
const fieldForm = "2006-01-02T15:04:05"

func parseInstant(name, text string) (t time.Time, err error) {
	for _, form := range instantForms {
		if t, err = time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	return t, &queue.Invalid{Field: name, Msg: fmt.Sprintf("%.40q is no time, such as 2026-11-22T14:30", text)}
}

// oldestRange is how far back history may go.
const oldestRange = 10 * 365 * 24 * time.Hour

// chosenRange reads a range; until may be missing, and is now.
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
		since = oldest // all that is kept lies behind it
	}
	switch {
	case since.Before(oldest):
		return since, until, &queue.Invalid{Field: "since", Msg: "nothing is kept of that time"}
	case until.Sub(since) < leastRange:
		return since, until, &queue.Invalid{Field: "since",
			Msg: "it has to be a minute before the end of the range, and before now"}
	}
	return since, until, nil
}

// rangeLink is the address of the page with a range.
func (r *Request) rangeLink(since, until time.Time) string {
	exactly := func(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }
	q := r.Without("since", "until")
	q.Query.Set("since", exactly(since))
	return q.With("until", exactly(until)) + "#history"
}

// leastShown is how much time a picture shows at least, and leastRange how much may be chosen.
const (
	leastShown = 5 * time.Minute
	leastRange = time.Minute
)
