package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/units"
	say "github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// The pages that change the configuration. A POST to edit changes nothing: it checks the text, and plans.
var (
	editPage  = &Page{Name: "edit", Of: "policy", Path: "policy/edit", Seen: ByUser, Load: loadEdit, Post: postEdit}
	applyPage = &Page{Name: "applied", Of: "policy", Path: "policy/apply", Seen: ByUser, Load: loadApply,
		Post: postApply}
	rollbackPage = &Page{Name: "rollback", Of: "policy", Path: "policy/rollback", Seen: ByUser, Load: loadRollback,
		Post: postRollback}
)

// Edit is a configuration that a user edits, with the changes that it would make.
type Edit struct {
	File, Text string
	Number     int // of the version that the text started from
	Last       string
	Problems   config.Problems
	Broken     bool
	Problem    string // of the whole text
	Diff       *api.ConfigDiff
	Plan       *plan
	May        bool
}

// lasts holds the lengths of the past that a replay may cover.
var lasts = []string{"0", "6h", "24h", "7d"}

// Lasts returns the lengths of the past that a replay may cover.
func (e *Edit) Lasts() []string { return lasts }

// textInForce returns the text and the number of the current version of the file. Without one, it writes the
// text from the current configuration, with the number 0.
func textInForce(ctx context.Context, src Source) (text string, number int, err error) {
	versions, err := src.Config.Versions(ctx)
	if err != nil {
		return "", 0, err
	}
	for _, x := range versions.Entries {
		if x.InForce {
			v, err := src.Config.Version(ctx, x.Number)
			if err != nil {
				return "", 0, err
			}
			return v.Text, x.Number, nil
		}
	}
	c, err := src.Config.Status(ctx)
	if err != nil {
		return "", 0, err
	}
	return c.Text, 0, nil
}

func loadEdit(ctx context.Context, src Source, r *Request) (any, error) {
	c, err := src.Config.Status(ctx)
	if err != nil {
		return nil, err
	}
	e := &Edit{File: fileName(c), Last: "24h", May: r.You.can(access.Configure, access.Object{})}
	if text := r.Word("version"); text != "" {
		if e.Number, err = strconv.Atoi(text); err != nil || e.Number < 1 {
			return nil, &queue.Invalid{Field: "version", Msg: fmt.Sprintf("%.40q is not a version number", text)}
		}
		v, err := src.Config.Version(ctx, e.Number)
		if err != nil {
			return nil, err
		}
		e.Text = v.Text
	} else if e.Text, e.Number, err = textInForce(ctx, src); err != nil {
		return nil, err
	}
	return e, e.check(ctx, src)
}

func fileName(c *api.ConfigStatus) string {
	if c.File == "" {
		return "fairlead.yaml"
	}
	return c.File[strings.LastIndexByte(c.File, '/')+1:]
}

// check finds the faults of the text, and the changes that it would make.
func (e *Edit) check(ctx context.Context, src Source) error {
	c, err := src.Config.Read(api.ConfigFile{Name: e.File, Text: e.Text})
	if errors.As(err, &e.Problems) {
		e.Broken = true
		return nil
	}
	if err != nil {
		e.Broken, e.Problem = true, err.Error()
		return nil
	}
	e.Problems = c.Report()
	if e.Diff, err = src.Config.Diff(ctx, api.ConfigFile{Name: e.File, Text: e.Text}); err != nil {
		e.Broken, e.Problem = true, err.Error()
	}
	return nil
}

func postEdit(ctx context.Context, src Source, r *Request) (any, error) {
	c, err := src.Config.Status(ctx)
	if err != nil {
		return nil, err
	}
	// Forms end lines with two characters.
	e := &Edit{File: fileName(c), Text: strings.ReplaceAll(r.Word("text"), "\r\n", "\n"), Last: r.Word("last"),
		May: r.You.can(access.Configure, access.Object{})}
	if len(e.Text) > 1<<20 {
		return nil, &queue.Invalid{Field: "text", Msg: "is longer than 1 MiB"}
	}
	e.Number, _ = strconv.Atoi(r.Word("number"))
	if err := e.check(ctx, src); err != nil || e.Broken || r.Word("do") != "plan" {
		return e, err
	}
	back, err := units.ParseDuration(e.Last)
	if err != nil {
		return nil, &queue.Invalid{Field: "last", Msg: err.Error()}
	}
	p, err := src.Config.Plan(ctx, api.ConfigPlanRequest{ConfigFile: api.ConfigFile{Name: e.File, Text: e.Text},
		ReplaySeconds: back.Seconds()})
	if err != nil {
		return nil, err
	}
	e.Plan = planOf(p)
	return e, nil
}

// plan holds the changes that a configuration would make, with their pictures.
type plan struct {
	*api.ConfigPlan
	Pools  []api.PoolPlan // pools that change, or the ones that change most
	More   int            // number of other pools that change
	Same   int            // number of pools that do not change
	Shares plot.Figure
	Next   string
}

func planOf(p *api.ConfigPlan) *plan {
	out := &plan{ConfigPlan: p}
	bars := plot.Bars{Title: "Share of the pool above", Width: 620, Unit: plot.Percent,
		Series: []string{"before", "after"}}
	for _, x := range p.Pools {
		changed := x.New || x.Gone || x.WeightBefore != x.WeightAfter || x.ShareBefore != x.ShareAfter ||
			x.FairNowBefore != x.FairNowAfter || x.Starts+x.Stops > 0
		switch {
		case x.Depth == 0:
		case !changed:
			out.Same++
		default:
			if out.Pools = append(out.Pools, x); len(bars.Groups) < 12 {
				bars.Groups = append(bars.Groups, plot.Group{Name: x.Path, Values: []float64{x.ShareBefore, x.ShareAfter}})
			}
		}
	}
	out.shorten()
	bars.Title = "Share of the cluster, before and after"
	if len(bars.Groups) > 0 {
		out.Shares = bars
	}
	out.Next = nextText(p)
	return out
}

// planShown is the maximum number of pools that a plan lists: browsers are slow with thousands.
const planShown = 100

// shorten keeps the pools that change most, in their order, that is pools where tasks start or stop, or
// whose share changes much.
func (p *plan) shorten() {
	if p.More = len(p.Pools) - planShown; p.More <= 0 {
		p.More = 0
		return
	}
	rank := func(x api.PoolPlan) float64 {
		return math.Abs(x.ShareAfter-x.ShareBefore) + float64(min(1, x.Starts+x.Stops))
	}
	sorted := slices.Clone(p.Pools)
	slices.SortStableFunc(sorted, func(a, b api.PoolPlan) int { return cmp.Compare(rank(b), rank(a)) })
	shown := map[string]bool{}
	for _, x := range sorted[:planShown] {
		shown[x.Path] = true
	}
	p.Pools = slices.DeleteFunc(p.Pools, func(x api.PoolPlan) bool { return !shown[x.Path] })
}

// nextText names the pools that go next, before and after the change.
func nextText(p *api.ConfigPlan) string {
	names := func(pools []string) string {
		if len(pools) == 0 {
			return "no task waits for room"
		}
		return strings.Join(pools, ", ")
	}
	switch {
	case p.Unranked:
		return "known after it is applied"
	case slices.Equal(p.Before, p.After):
		return names(p.Before) + ", as before"
	}
	return names(p.Before) + "; then: " + names(p.After)
}

// Wait writes the wait of a task.
func (p *plan) Wait(seconds int64) string { return say.Span(say.Seconds(float64(seconds))) }

// Short writes a number as short as is clear.
func (p *plan) Short(v float64) string { return why.Short(v) }

// Applied is the configuration after a change.
type Applied struct {
	*api.ApplyResponse
	Says string
}

func loadApply(context.Context, Source, *Request) (any, error) {
	return nil, &queue.Invalid{Field: "plan", Msg: "is missing: make a plan in the editor, and apply it there"}
}

func postApply(ctx context.Context, src Source, r *Request) (any, error) {
	out, err := src.Config.Apply(ctx, api.ApplyRequest{Plan: r.Word("plan"), Reason: r.Word("reason")})
	if err != nil {
		return nil, err
	}
	if len(out.Changes) == 0 {
		return &Applied{out, "The plan is the file now"}, nil
	}
	return &Applied{out, "The plan is applied"}, nil
}

// Rollback is an earlier version to apply again.
type Rollback struct {
	api.ConfigVersion
	Plan *plan
	Back *Applied // set afterwards
}

// backTo returns the number of the version to go back to.
func backTo(r *Request) (int, error) {
	if err := r.You.may(access.Configure, access.Object{}); err != nil {
		return 0, err
	}
	number, err := strconv.Atoi(r.Word("to"))
	if err != nil || number < 1 {
		return 0, &queue.Invalid{Field: "to", Msg: fmt.Sprintf("%.40q is not a version number", r.Word("to"))}
	}
	return number, nil
}

func loadRollback(ctx context.Context, src Source, r *Request) (any, error) {
	number, err := backTo(r)
	if err != nil {
		return nil, err
	}
	v, err := src.Config.Version(ctx, number)
	if err != nil {
		return nil, err
	}
	p, err := src.Config.Plan(ctx, api.ConfigPlanRequest{ConfigFile: api.ConfigFile{Text: v.Text}})
	if err != nil {
		return nil, err
	}
	return &Rollback{ConfigVersion: *v, Plan: planOf(p)}, nil
}

// postRollback applies the plan that the page showed, so that it does not undo later changes by other users.
func postRollback(ctx context.Context, src Source, r *Request) (any, error) {
	number, err := backTo(r)
	if err != nil {
		return nil, err
	}
	if r.Word("plan") == "" {
		return nil, &queue.Invalid{Field: "plan",
			Msg: "is missing: open the page of the version, and roll back there"}
	}
	out, err := src.Config.Rollback(ctx, api.RollbackRequest{To: number, Plan: r.Word("plan"), Reason: r.Word("reason")})
	if err != nil {
		return nil, fmt.Errorf("open the page of version %d again: %w", number, err)
	}
	return &Rollback{Back: &Applied{out, fmt.Sprintf("Version %d is restored", number)}}, nil
}
