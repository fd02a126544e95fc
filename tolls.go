package fairlead

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// maxTolls bounds the licences and the rates of a job.
const maxTolls = 16

// checkTolls looks at the licences and rates that a job names; whether they are there is
// for the configuration to say.
func (j *Job) checkTolls() error {
	if len(j.Licenses) > maxTolls || len(j.Rates) > maxTolls {
		return invalid("licenses", "the job names %d licences and %d rates, at most %d of each", len(j.Licenses), len(j.Rates), maxTolls)
	}
	for name, n := range j.Licenses {
		if share.CheckName(name) != nil {
			return invalid("licenses", "%.60q is not the name of a licence", name)
		}
		if n < 1 || n > maxAmount {
			return invalid("licenses", "%s must be from 1 to %d, got %d", name, int64(maxAmount), n)
		}
	}
	for i, name := range j.Rates {
		if share.CheckName(name) != nil {
			return invalid("rates", "%.60q is not the name of a rate", name)
		}
		if slices.Contains(j.Rates[:i], name) {
			return invalid("rates", "%s is named twice; a start counts once under it", name)
		}
	}
	return nil
}

// settleTolls refuses licences and rates that are not configured, and subjects a job to
// the rates of its kind.
func (s *Shares) settleTolls(j *Job) error {
	for _, name := range slices.Sorted(maps.Keys(j.Licenses)) {
		total, known := s.Sched.Licenses[name]
		switch n := j.Licenses[name]; {
		case !known:
			return invalid("licenses", "there is no licence %q; %s", name, knownNames("licences", s.Sched.Licenses, "licenses: {matlab: 5}"))
		case n <= total && n*int64(max(1, j.Gang)) > total:
			return invalid("licenses", "its %d tasks ask for %d of %s at once, and there are %d: they could never start; ask for less", j.Gang, n*int64(j.Gang), name, total)
		case n > total:
			return invalid("licenses", "a task asks for %d of %s, and there are %d: it could never start; ask for less", n, name, total)
		}
	}
	for _, name := range j.Rates {
		if _, known := s.Sched.Rates[name]; !known {
			return invalid("rates", "there is no rate %q; %s", name, knownNames("rates", s.Sched.Rates, "rates: {crawl: 5/s}"))
		}
	}
	for _, name := range s.KindRates[j.Kind] {
		if !slices.Contains(j.Rates, name) {
			j.Rates = append(slices.Clip(j.Rates), name)
		}
	}
	return nil
}

// knownNames lists what is configured for an error message.
func knownNames[V any](what string, known map[string]V, example string) string {
	if len(known) == 0 {
		return fmt.Sprintf("no %s are configured, which an administrator does with a line such as %s", what, example)
	}
	names := slices.Sorted(maps.Keys(known))
	if len(names) > 20 {
		names = append(names[:20], "…")
	}
	return fmt.Sprintf("known %s: %s", what, strings.Join(names, ", "))
}

// restoreRates lets the rates of a new core go on from where they stand.
func (l *Loop) restoreRates(ctx context.Context, core *sched.Scheduler) error {
	keeper, ok := l.store.(RateKeeper)
	if !ok {
		return nil
	}
	states, err := keeper.Rates(ctx)
	if err != nil {
		return fmt.Errorf("read the rates: %w", err)
	}
	for _, s := range states {
		core.SetRate(s, core.Instant())
	}
	return nil
}

// tolls is what a task that was chosen asks for beside its node.
type tolls struct {
	rates []sched.RateLimit
	holds []sched.Held
}

// tollsOf is what a task that was chosen asks for. What it holds matters to the store if
// others start tasks, too: the core knows of theirs what it has heard.
func (l *Loop) tollsOf(run sched.RunID) (t tolls) {
	t.rates = l.core.RatesOf(run)
	if s, ok := l.store.(Sharer); ok && s.Shared() {
		t.holds = l.core.HeldBy(run)
	}
	return t
}

// settleRates tells the core where the rates stand by which the store granted wants, or
// did not. It comes after what was not granted has been given back.
func (l *Loop) settleRates(grants []Grant, now time.Time) {
	for _, g := range grants {
		for _, s := range g.Rates {
			l.core.SetRate(s, now)
		}
	}
}

// LicenseView is a licence as `fairlead limits` shows it.
type LicenseView struct {
	Name    string       `json:"name"`
	Total   int64        `json:"total"`
	Used    int64        `json:"used"`
	Waiting int64        `json:"waiting"` // tasks that ask for it
	Holders []why.Holder `json:"holders"` // those who hold most of it first
}

// RateView is a rate as `fairlead limits` shows it.
type RateView struct {
	Name    string     `json:"name"`
	Limit   string     `json:"limit"` // e.g. 5/s; empty: not configured any more
	Burst   int64      `json:"burst"`
	Left    int64      `json:"left"`           // starts that may come at once
	Next    *time.Time `json:"next,omitempty"` // of the next, if none is left
	Waiting int64      `json:"waiting"`        // tasks that are subject to it
	Kinds   []string   `json:"kinds,omitempty"`
}

// Limits returns the licences and rates of the cluster.
func (l *Loop) Limits(ctx context.Context) ([]LicenseView, []RateView) {
	if err := l.sync(ctx); err != nil {
		l.log.Warn("the limits are of an older state", "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Advance(time.Now())
	held, limited := l.core.Tolls()
	licenses, rates := make([]LicenseView, len(held)), make([]RateView, len(limited))
	for i, x := range held {
		licenses[i] = LicenseView{x.Name, x.Total, x.Used, x.Waiting, l.holders(x.Name)}
	}
	for i, x := range limited {
		rates[i] = RateView{Name: x.Name, Burst: x.Burst, Left: x.Left, Waiting: x.Waiting}
		if x.Limit.Count > 0 {
			rates[i].Limit = x.Limit.String()
		}
		if !x.Next.IsZero() {
			rates[i].Next = &x.Next
		}
		for _, kind := range slices.Sorted(maps.Keys(l.shares.KindRates)) {
			if slices.Contains(l.shares.KindRates[kind], x.Name) {
				rates[i].Kinds = append(rates[i].Kinds, kind)
			}
		}
	}
	return licenses, rates
}

// How many holders of a licence are named, and how many jobs of each.
const (
	mostHolders    = 5
	mostHolderJobs = 10
)

// holders are the users whose tasks hold most of a licence.
func (l *Loop) holders(license string) []why.Holder {
	byUser := map[string]*why.Holder{}
	for _, r := range l.runs {
		n := r.header.Licenses[license]
		if n == 0 {
			continue
		}
		h := byUser[r.header.User]
		if h == nil {
			h = &why.Holder{User: r.header.User}
			byUser[h.User] = h
		}
		h.Count += n
		if !slices.Contains(h.Jobs, r.header.ID) && len(h.Jobs) < mostHolderJobs {
			h.Jobs = append(h.Jobs, r.header.ID)
		}
	}
	out := []why.Holder{}
	for _, h := range byUser {
		slices.Sort(h.Jobs)
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b why.Holder) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.User, b.User))
	})
	return out[:min(len(out), mostHolders)]
}

// tellTolls adds to the gates of licences who holds them, and to those of rates when
// they open.
func (l *Loop) tellTolls(gates []why.Gate, now time.Time) {
	for i := range gates {
		g := &gates[i]
		if name, ok := strings.CutPrefix(g.Name, "license "); ok && g.Where == "licenses" {
			g.Holders = l.holders(name)
			if len(g.Holders) > 0 && g.Code == why.GateLicense {
				g.Text += ": " + holdersText(g.Holders)
			}
		}
		if g.Code == why.GateRate && g.Next != nil {
			g.Text += ": the next start is in " + why.Duration(g.Next.Sub(now))
		}
	}
}

func holdersText(holders []why.Holder) string {
	var parts []string
	for _, h := range holders {
		jobs := make([]string, len(h.Jobs))
		for i, id := range h.Jobs {
			jobs[i] = fmt.Sprint(id)
		}
		parts = append(parts, fmt.Sprintf("%s has %d (job %s)", h.User, h.Count, strings.Join(jobs, ", ")))
	}
	return strings.Join(parts, "; ")
}
