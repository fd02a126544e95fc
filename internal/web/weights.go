package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/why"
)

// weightsPage has a slider for the weight of each child of a pool. It shows the changes that the weights
// would make, from the same plan that the editor makes of the text. The address holds the weights, as w.NAME,
// so that users can send it to each other.
var weightsPage = &Page{Name: "weights", Of: "policy", Path: "policy/weights", Seen: ByUser, Load: loadWeights}

// Weights is the data of the page.
type Weights struct {
	Pool    string // the parent of the pools with sliders
	Way     []string
	Others  []sortLink // pools with several children
	Rows    []weightRow
	More    int // children without a row
	Changed bool
	May     bool
	Problem string
	Unused  bool // the policy of the pool does not count weights
	Plan    *plan
	Text    string // of the configuration with these weights
	Number  int
	Lasts   []string
}

// slider is a number between bounds.
type slider struct {
	From, To, Step, Value float64
	Now                   float64 // the current value
	Changed               bool
}

// weightRow is a pool with its slider.
type weightRow struct {
	Path, Name string
	Field      string // of the address
	Slider     slider
	Shown      string // in the field: the weight, or a text that is none
	Fixed      bool   // its weight cannot be changed alone
	Before     float64
	After      float64 // share of the cluster
	Bar        plot.Bullet
}

// weightsShown is the maximum number of pools with sliders (the largest have them), and weightsLinked the
// maximum number of linked parents.
const (
	weightsShown  = 40
	weightsLinked = 30
)

func loadWeights(ctx context.Context, src Source, r *Request) (any, error) {
	w := &Weights{Pool: r.Word("pool"), May: r.You.can(access.Configure, access.Object{}), Lasts: lasts}
	shares, err := src.Pools.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(shares.Pools, func(p views.PoolView) bool { return p.Path == w.Pool })
	if at < 0 {
		return nil, missing("there is no pool %.256q", w.Pool)
	}
	w.Unused = shares.Pools[at].Policy == "fifo"
	w.Way = above(w.Pool)
	text, number, err := textInForce(ctx, src)
	if err != nil {
		return nil, err
	}
	w.Number = number
	c, err := src.Config.Read(api.ConfigFile{Name: "fairlead.yaml", Text: text})
	if err != nil {
		return nil, fmt.Errorf("the present file cannot be read: %w", err)
	}
	w.others(shares, r)
	wanted := w.rows(shares, c, r)
	if len(wanted) > 0 && w.Problem == "" {
		if err := w.look(ctx, src, c, wanted); err != nil {
			return nil, err
		}
	}
	w.draw()
	return w, nil
}

// above returns the pools above a pool, the topmost first.
func above(path string) (way []string) {
	for i, c := range path {
		if c == '/' {
			way = append(way, path[:i])
		}
	}
	return way
}

// childOf reports whether a pool is a child of another.
func childOf(path, pool string) bool {
	if path == "" {
		return false
	}
	at := strings.LastIndexByte(path, '/')
	return pool == path[:max(0, at)]
}

// others finds the pools with at least two children.
func (w *Weights) others(shares *api.Shares, r *Request) {
	children := map[string]int{}
	for i := range shares.Pools {
		if p := &shares.Pools[i]; p.Path != "" && p.Configured {
			children[p.Path[:max(0, strings.LastIndexByte(p.Path, '/'))]]++
		}
	}
	for i := range shares.Pools {
		path := shares.Pools[i].Path
		if children[path] > 1 && len(w.Others) < weightsLinked {
			w.Others = append(w.Others, sortLink{cmp.Or(path, "cluster"), r.Root + "policy/weights" + poolQuery(path),
				path == w.Pool})
		}
	}
}

// rows makes the sliders, and returns the changed weights.
func (w *Weights) rows(shares *api.Shares, c *config.Config, r *Request) map[string]float64 {
	wanted := map[string]float64{}
	for i := range shares.Pools {
		p := &shares.Pools[i]
		if !p.Configured || !childOf(p.Path, w.Pool) {
			continue
		}
		name := lastOf(p.Path)
		row := weightRow{Path: p.Path, Name: name, Field: "w." + name, Before: p.Share, After: p.Share,
			Fixed: !c.Reweighable(p.Path)}
		row.Slider.Now = weightIn(c, p)
		row.Slider.Value = row.Slider.Now
		row.Shown = fmt.Sprint(row.Slider.Now)
		if text := strings.TrimSpace(r.Word(row.Field)); text != "" && !row.Fixed {
			row.Shown = text
			v, err := strconv.ParseFloat(text, 64)
			switch {
			case err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
				w.Problem = fmt.Sprintf("the weight of %s has to be a number that is not negative, and %.40q is not", p.Path, text)
			case v != row.Slider.Now:
				row.Slider.Value, row.Slider.Changed, wanted[p.Path] = v, true, v
			}
		}
		w.Rows = append(w.Rows, row)
	}
	most := 0.0
	for _, row := range w.Rows {
		most = max(most, row.Slider.Now)
	}
	slices.SortStableFunc(w.Rows, func(a, b weightRow) int { return cmp.Compare(b.Slider.Now, a.Slider.Now) })
	if w.More = len(w.Rows) - weightsShown; w.More > 0 {
		for _, row := range w.Rows[weightsShown:] {
			delete(wanted, row.Path)
		}
		w.Rows = w.Rows[:weightsShown]
	}
	slices.SortFunc(w.Rows, func(a, b weightRow) int { return cmp.Compare(a.Path, b.Path) })
	to := roundUp(1.5 * most)
	for i := range w.Rows {
		w.Rows[i].Slider.To, w.Rows[i].Slider.Step = to, to/100
	}
	w.Changed = len(wanted) > 0
	return wanted
}

// weightIn returns the weight of a pool in the text.
func weightIn(c *config.Config, p *views.PoolView) float64 {
	if v, named := c.Weight(p.Path); named {
		return v
	}
	return p.BaseWeight
}

// roundUp returns the next of 1, 2, 5, 10, 20 and so on.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= v {
			return m * unit
		}
	}
	return 10 * unit
}

// look plans the changed weights.
func (w *Weights) look(ctx context.Context, src Source, c *config.Config, wanted map[string]float64) error {
	next, err := c.Reweigh(wanted, func(name, text string) (*config.Config, error) {
		return src.Config.Read(api.ConfigFile{Name: name, Text: text}) // keeps what it parsed for the plan
	})
	if err != nil {
		w.Problem = err.Error()
		return nil
	}
	w.Text = next
	if !w.May {
		w.Problem = "only administrators may preview other weights"
		return nil
	}
	p, err := src.Config.Plan(ctx, api.ConfigPlanRequest{ConfigFile: api.ConfigFile{Text: next}, Look: true})
	if err != nil {
		w.Problem = api.FromError(err).Detail
		return nil
	}
	w.Plan = planOf(p)
	for i := range w.Rows {
		for _, x := range p.Pools {
			if x.Path == w.Rows[i].Path {
				w.Rows[i].Before, w.Rows[i].After = x.ShareBefore, x.ShareAfter
			}
		}
	}
	return nil
}

// draw draws the shares, all to the same scale.
func (w *Weights) draw() {
	most := 0.0
	for _, row := range w.Rows {
		most = max(most, row.Before, row.After)
	}
	for i := range w.Rows {
		row := &w.Rows[i]
		row.Bar = plot.Bullet{Name: row.Path, Bar: row.After, Mark: row.Before, To: most, Percent: true, Width: 220,
			Says: []string{"new share", "present share"}}
	}
}

// Short writes a weight.
func (w *Weights) Short(v float64) string { return why.Short(v) }
