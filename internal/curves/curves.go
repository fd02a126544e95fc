// Package curves draws the history of a pool, for the dashboard and the command line.
package curves

import (
	"math"
	"time"

	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/plot"
)

// Curve is the history of one pool.
type Curve struct {
	Name     string // of the pool
	Unit     string
	From, To time.Time
	Step     time.Duration
	Points   []history.HistoryPoint
	Width    float64
	Zone     *time.Location
}

// All returns all charts of a pool, one below the other.
func (c Curve) All() plot.Stack { return plot.Stack{c.Entitled(), c.share(), c.Demand(), c.Wait()} }

// Entitled shows the entitlement of the pool with its running tasks, and shades the difference.
func (c Curve) Entitled() plot.Chart {
	f := c.chart("Entitled and running", plot.Axis{Label: c.Unit})
	f.Series = []plot.Series{
		c.series("entitled", func(p *history.HistoryPoint) float64 { return p.FairNow }),
		c.series("running", func(p *history.HistoryPoint) float64 { return p.Running }),
	}
	f.Gap = &plot.Gap{Less: "below", More: "above"}
	return f
}

// share shows the pool's share of its parent, and its part of the parent's usage.
func (c Curve) share() plot.Chart {
	f := c.chart("Share and use", plot.Axis{Label: "of the pool above", Unit: plot.Percent, To: 1})
	f.Series = []plot.Series{
		c.series("share", func(p *history.HistoryPoint) float64 { return orUnknown(p.Share) }),
		c.series("used", func(p *history.HistoryPoint) float64 { return orUnknown(p.Used) }),
	}
	return f
}

// Demand shows the demand of the pool.
func (c Curve) Demand() plot.Chart {
	f := c.chart("Demand", plot.Axis{Label: c.Unit + ", tasks"})
	f.Series = []plot.Series{
		c.series(c.Unit+" that run or wait", func(p *history.HistoryPoint) float64 { return p.Demand }),
		c.series("waiting tasks", func(p *history.HistoryPoint) float64 { return p.Waiting }),
	}
	f.Series[0].Fill = true
	return f
}

// Wait shows the wait of the oldest job.
func (c Curve) Wait() plot.Chart {
	f := c.chart("Oldest wait", plot.Axis{Unit: plot.Seconds})
	f.Series = []plot.Series{c.series("oldest wait", func(p *history.HistoryPoint) float64 { return p.OldestWait })}
	f.Series[0].Fill = true
	return f
}

func (c Curve) chart(title string, y plot.Axis) plot.Chart {
	return plot.Chart{
		Title: title + ": " + c.Name, Width: c.Width, Height: 230, Y: y,
		X: plot.Axis{Unit: plot.Clock, From: unix(c.From), To: unix(c.To), Zone: c.Zone},
	}
}

// series returns one number of all points. It is unknown where points are missing.
func (c Curve) series(name string, of func(*history.HistoryPoint) float64) plot.Series {
	s := plot.Series{Name: name, Step: true, Gaps: true}
	unknown := func(at time.Time) {
		s.Points = append(s.Points, plot.Point{X: min(unix(at), unix(c.To)), Y: math.NaN()})
	}
	var end time.Time
	for i := range c.Points {
		p := &c.Points[i]
		if i > 0 && p.At.After(end) {
			unknown(end)
		}
		s.Points = append(s.Points, plot.Point{X: unix(p.At), Y: of(p)})
		end = p.At.Add(c.Step)
	}
	if len(c.Points) > 0 {
		unknown(end)
	}
	return s
}

func orUnknown(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
