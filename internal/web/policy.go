package web

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	say "github.com/fairlead/fairlead/internal/words"
)

// policySource is what the pages about the configuration need. Plans and changes check who asks.
type policySource interface {
	// Status is what the server says about itself.
	Status(ctx context.Context) (*api.ServerStatus, error)
	// Config is the configuration in force.
	Config(ctx context.Context) (*api.ConfigStatus, error)
	// ConfigVersions are the versions of the file that are kept, and ConfigVersion is one with
	// its text.
	ConfigVersions(ctx context.Context) (*api.ConfigVersions, error)
	ConfigVersion(ctx context.Context, number int) (*api.ConfigVersion, error)
	// ConfigHistory is the record of changes, newest first.
	ConfigHistory(ctx context.Context, limit int) (*api.ConfigHistory, error)
	// ConfigRead reads a configuration, which is not to be changed. Its errors are those of
	// [config.Parse].
	ConfigRead(f api.ConfigFile) (*config.Config, error)
	// ConfigDiff and ConfigPlan tell what another configuration would change.
	ConfigDiff(ctx context.Context, f api.ConfigFile) (*api.ConfigDiff, error)
	ConfigPlan(ctx context.Context, r api.ConfigPlanRequest) (*api.ConfigPlan, error)
	// ConfigApply puts a plan into force, ConfigRollback an earlier version.
	ConfigApply(ctx context.Context, r api.ApplyRequest) (*api.ApplyResponse, error)
	ConfigRollback(ctx context.Context, r api.RollbackRequest) (*api.ApplyResponse, error)
	// Doctor is what fairlead doctor found lately.
	Doctor(ctx context.Context) (*api.Diagnosis, error)
}

// policyPage shows what is in force, who changed it, and how the scheduler does.
var policyPage = &Page{Name: "policy", Path: "policy", Title: "Policy", Key: "o", Seen: ByRole, Parts: []string{"force", "tree", "versions", "record", "health"}, Load: loadPolicy}

// Policy is what the page shows.
type Policy struct {
	*api.Shares
	Config   *api.ConfigStatus
	Rows     []policyRow
	Pager    Pager
	Versions []api.ConfigVersion
	Record   []api.AuditRecord
	Status   *api.ServerStatus
	Doctor   *api.Diagnosis
	May      bool // change it
}

// policyRow is a pool with what is decided about it.
type policyRow struct{ *fairlead.PoolView }

// Weigh is its weight, and what that is made of while it is boosted.
func (p policyRow) Weigh() string { return say.Weight(p.PoolView) }

// Least is its minimum.
func (p policyRow) Least() string { return say.Dash(say.Amounts(p.Min, "")) }

// Greatest is its maximum.
func (p policyRow) Greatest() string { return say.Dash(say.Amounts(p.Max, "")) }

// Bad are the checks that found something.
func (p *Policy) Bad() []api.HealthCheck {
	return slices.DeleteFunc(slices.Clone(p.Doctor.Checks), func(c api.HealthCheck) bool { return c.Result == api.ResultOK })
}

// Took writes seconds that are mostly a part of a thousandth.
func (p *Policy) Took(seconds float64) string {
	switch {
	case seconds < 0.001:
		return fmt.Sprintf("%.3g µs", 1e6*seconds)
	case seconds < 0.1:
		return fmt.Sprintf("%.3g ms", 1000*seconds)
	}
	return fmt.Sprintf("%.3g s", seconds)
}

// Amount writes what the record says was there. What a pool used is told in hours, the exact number
// beside it.
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

// How many rows the lists of the page have.
const (
	treeShown     = 100
	versionsShown = 10
	recordShown   = 30
)

func loadPolicy(ctx context.Context, src Source, r *Request) (any, error) {
	shares, err := src.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	p := &Policy{Shares: shares, May: r.You.Admin}
	p.Pager = pagerOf(len(shares.Pools), treeShown, r)
	for i := p.Pager.First - 1; i < p.Pager.Last; i++ {
		p.Rows = append(p.Rows, policyRow{&shares.Pools[i]})
	}
	if p.Config, err = src.Config(ctx); err != nil {
		return nil, err
	}
	versions, err := src.ConfigVersions(ctx)
	if err != nil {
		return nil, err
	}
	p.Versions = versions.Entries[:min(versionsShown, len(versions.Entries))]
	if record, err := src.ConfigHistory(ctx, recordShown); err == nil { // some servers keep none
		p.Record = record.Entries
	}
	if p.Status, err = src.Status(ctx); err != nil {
		return nil, err
	}
	p.Doctor, err = src.Doctor(ctx)
	return p, err
}
