package words

import (
	"fmt"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/why"
)

// Compared is one number of two pools: as people read it, and exactly.
type Compared struct {
	Name      string
	Of, Exact [2]string
}

// comparison holds the numbers of two pools.
type comparison struct {
	pools [2]*views.PoolView
	all   []Compared
}

// word adds a text, unless neither pool has it.
func (c *comparison) word(name string, of func(p *views.PoolView) string) {
	row := Compared{Name: name, Of: [2]string{of(c.pools[0]), of(c.pools[1])}}
	if row.Exact = row.Of; row.Of != [2]string{} {
		c.all = append(c.all, row)
	}
}

// number adds a number; write formats it.
func (c *comparison) number(name string, of func(p *views.PoolView) float64, write func(float64) string) {
	row := Compared{Name: name}
	for i, p := range c.pools {
		v := of(p)
		row.Of[i], row.Exact[i] = write(v), strconv.FormatFloat(v, 'g', -1, 64)
	}
	c.all = append(c.all, row)
}

// comparedBy adds the keys of the pools under the policies above.
func (c *comparison) comparedBy() {
	row := Compared{Name: "compared by"}
	for i, p := range c.pools {
		if row.Of[i] = ComparedBy(p); p.Compared != nil {
			row.Exact[i] = strconv.FormatFloat(float64(p.Compared.Key), 'g', -1, 64)
		}
	}
	if row.Of != [2]string{} {
		c.all = append(c.all, row)
	}
}

// limits adds the minima and maxima of the pools.
func (c *comparison) limits() {
	c.word("min", func(p *views.PoolView) string { return Amounts(p.Min, "") })
	c.word("max", func(p *views.PoolView) string { return Amounts(p.Max, "") })
	c.word("max running tasks", func(p *views.PoolView) string {
		if p.MaxRunning == 0 {
			return ""
		}
		return fmt.Sprint(p.MaxRunning)
	})
	c.word("paused", func(p *views.PoolView) string {
		if p.Paused == nil {
			return ""
		}
		return Pool(p.Paused.Pool)
	})
}

// Compare lists the numbers of two pools side by side.
func Compare(doc *api.Shares, a, b *views.PoolView) []Compared {
	c := &comparison{pools: [2]*views.PoolView{a, b}}
	c.word("weight", Weight)
	for i, p := range c.pools {
		c.all[0].Exact[i] = strconv.FormatFloat(p.Weight, 'g', -1, 64)
	}
	c.number("share of parent pool", func(p *views.PoolView) float64 { return p.ShareHere }, Percent)
	c.comparedBy()
	c.number("past use of parent pool", func(p *views.PoolView) float64 { return p.UsedHere }, Percent)
	c.number("share of the cluster", func(p *views.PoolView) float64 { return p.Share }, Percent)
	c.limits()
	c.number("runs now, "+doc.Unit, func(p *views.PoolView) float64 { return p.Running }, why.Short)
	c.number("entitled now, "+doc.Unit, func(p *views.PoolView) float64 { return p.FairNow }, OneDigit)
	c.number("demand now, "+doc.Unit, func(p *views.PoolView) float64 { return p.Want }, why.Short)
	c.number("waiting tasks", func(p *views.PoolView) float64 { return float64(p.Waiting) }, why.Short)
	c.number("oldest wait", func(p *views.PoolView) float64 { return p.OldestWait }, func(v float64) string {
		if v <= 0 {
			return "none"
		}
		return Span(Seconds(v))
	})
	day := Span(Seconds(doc.Fairness.Day.Seconds))
	hours := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	c.number(fmt.Sprintf("entitled, %s-h in %s", doc.Unit, day), func(p *views.PoolView) float64 { return p.Fairness.Day.Ideal / 3600 }, hours)
	c.number(fmt.Sprintf("received, %s-h in %s", doc.Unit, day), func(p *views.PoolView) float64 { return p.Fairness.Day.Received / 3600 }, hours)
	c.number("served in "+day, func(p *views.PoolView) float64 { return p.Fairness.Day.Served }, Percent)
	c.number(fmt.Sprintf("lag, %s-h in %s", doc.Unit, day), func(p *views.PoolView) float64 { return p.Fairness.Day.Lag() / 3600 }, func(v float64) string { return Owed(v * 3600) })
	return c.all
}
