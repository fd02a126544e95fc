package web

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
	say "github.com/fairlead/fairlead/internal/words"
)

// policyPage shows the current configuration, its changes, and the health of the scheduler.
var policyPage = &Page{Name: "policy", Path: "policy", Title: "Policy", Key: "o", Seen: ByRole,
	Parts: []string{"force", "tree", "versions", "record", "health"}, Load: loadPolicy}

// Policy is the data of the page.
type Policy struct {
	*api.Shares
	Config   *api.ConfigStatus
	Rows     []policyRow
	Pager    Pager
	Versions []api.ConfigVersion
	Record   []api.AuditRecord
	Status   *api.ServerStatus
	Doctor   *api.Diagnosis
	May      bool // the user may change it
}

// policyRow is a pool with its settings.
type policyRow struct{ *views.PoolView }

// Weigh writes its weight, and the parts of the weight during a boost.
func (p policyRow) Weigh() string { return say.Weight(p.PoolView) }

// Least writes its minimum.
func (p policyRow) Least() string { return say.Dash(say.Amounts(p.Min, "")) }

// Greatest writes its maximum.
func (p policyRow) Greatest() string { return say.Dash(say.Amounts(p.Max, "")) }

// Bad returns the checks that found something.
func (p *Policy) Bad() []api.HealthCheck {
	return slices.DeleteFunc(slices.Clone(p.Doctor.Checks),
		func(c api.HealthCheck) bool { return c.Result == api.ResultOK })
}

// Took writes seconds that are mostly fractions of a thousandth.
func (p *Policy) Took(seconds float64) string {
	switch {
	case seconds < 0.001:
		return fmt.Sprintf("%.3g µs", 1e6*seconds)
	case seconds < 0.1:
		return fmt.Sprintf("%.3g ms", 1000*seconds)
	}
	return fmt.Sprintf("%.3g s", seconds)
}

// Amount writes a value of the record. It writes the usage of a pool in hours, with the exact number beside
// it.
func (p *Policy) Amount(text string) template.HTML {
	number, used := strings.CutSuffix(text, " slot-seconds")
	if v, err := strconv.ParseFloat(number, 64); used && err == nil {
		return data(exact(v), say.OneDigit(v/3600)+" "+p.Unit+"-h")
	}
	if r := []rune(text); len(r) > 80 {
		text = string(r[:80]) + "…"
	}
	return template.HTML(template.HTMLEscapeString(text))
}

// The numbers of rows in the lists of the page.
const (
	treeShown     = 100
	versionsShown = 10
	recordShown   = 30
)

func loadPolicy(ctx context.Context, src Source, r *Request) (any, error) {
	shares, err := src.Pools.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	p := &Policy{Shares: shares, May: r.You.can(access.Configure, access.Object{})}
	p.Pager = pagerOf(len(shares.Pools), treeShown, r)
	for i := p.Pager.First - 1; i < p.Pager.Last; i++ {
		p.Rows = append(p.Rows, policyRow{&shares.Pools[i]})
	}
	if p.Config, err = src.Config.Status(ctx); err != nil {
		return nil, err
	}
	versions, err := src.Config.Versions(ctx)
	if err != nil {
		return nil, err
	}
	p.Versions = versions.Entries[:min(versionsShown, len(versions.Entries))]
	if record, err := src.Config.History(ctx, recordShown); err == nil { // some servers keep no record
		p.Record = record.Entries
	}
	if p.Status, err = src.Server.Status(ctx); err != nil {
		return nil, err
	}
	p.Doctor = src.Server.Doctor(ctx)
	return p, nil
}
