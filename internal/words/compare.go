package words

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/why"
)

// Compared is one number of two pools.
type Compared struct {
	Name string
	Of   [2]string
}

// Compare lists the numbers of two pools beside each other. Those of a pool are its first in a
// document.
func Compare(doc *api.Shares, a, b *fairlead.PoolView) []Compared {
	var all []Compared
	add := func(name string, of func(p *fairlead.PoolView) string) {
		if row := (Compared{name, [2]string{of(a), of(b)}}); row.Of != [2]string{} {
			all = append(all, row)
		}
	}
	day := Span(Seconds(doc.Fairness.Day.Seconds))
	add("weight", Weight)
	add("share of the pool above", func(p *fairlead.PoolView) string { return Percent(p.ShareHere) })
	add("used of the pool above", func(p *fairlead.PoolView) string { return Percent(p.UsedHere) })
	add("over or under", func(p *fairlead.PoolView) string { return why.OverUnder(p.ShareHere, p.UsedHere) })
	add("share of the whole", func(p *fairlead.PoolView) string { return Percent(p.Share) })
	add("min", func(p *fairlead.PoolView) string { return Amounts(p.Min, "") })
	add("max", func(p *fairlead.PoolView) string { return Amounts(p.Max, "") })
	add("tasks at once", func(p *fairlead.PoolView) string {
		if p.MaxRunning == 0 {
			return ""
		}
		return fmt.Sprint(p.MaxRunning)
	})
	add("paused", func(p *fairlead.PoolView) string {
		if p.Paused == nil {
			return ""
		}
		return p.Paused.Pool
	})
	add("runs now, "+doc.Unit, func(p *fairlead.PoolView) string { return why.Short(p.Running) })
	add("fair now, "+doc.Unit, func(p *fairlead.PoolView) string { return OneDigit(p.FairNow) })
	add("wants now, "+doc.Unit, func(p *fairlead.PoolView) string { return why.Short(p.Want) })
	add("tasks that wait", func(p *fairlead.PoolView) string { return fmt.Sprint(p.Waiting) })
	add("oldest wait", func(p *fairlead.PoolView) string {
		if p.OldestWait <= 0 {
			return "none"
		}
		return Span(Seconds(p.OldestWait))
	})
	hours := func(v float64) string { return fmt.Sprintf("%.2f", v/3600) }
	add(fmt.Sprintf("due, %s-h in %s", doc.Unit, day), func(p *fairlead.PoolView) string { return hours(p.Fairness.Day.Ideal) })
	add(fmt.Sprintf("received, %s-h in %s", doc.Unit, day), func(p *fairlead.PoolView) string { return hours(p.Fairness.Day.Received) })
	add(fmt.Sprintf("owed, %s-h in %s", doc.Unit, day), func(p *fairlead.PoolView) string { return Owed(p.Fairness.Day.Lag()) })
	return all
}
