package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/views"
	say "github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

// horizons holds the time spans that the picture of the nodes can cover in both directions, in hours.
var horizons = []float64{1, 6, 24, 168}

// hours returns the requested time span.
func (m *Machines) hours(r *Request) float64 {
	if hours, err := strconv.ParseFloat(r.Word("hours"), 64); err == nil && slices.Contains(horizons, hours) {
		return hours
	}
	return 6
}

// timeline draws the nodes of the page over time. It has the ended tasks, the running tasks up to their time
// limits, planned starts, and reservations. It also has the room that is free until a planned start or a
// reservation begins.
func (m *Machines) timeline(r *Request, tops []string) {
	hours := m.hours(r)
	for _, h := range horizons {
		m.Spans = append(m.Spans, sortLink{why.Duration(say.Seconds(h * 3600)),
			r.With("hours", strconv.FormatFloat(h, 'f', -1, 64)), h == hours})
	}
	p := planner{m: m, now: m.At, from: m.At.Add(-say.Seconds(hours * 3600)), to: m.At.Add(say.Seconds(hours * 3600))}
	// If all tasks have started recently, the picture need not show a long past.
	back := p.to
	for i := range m.Tasks {
		back = units.Earlier(back, m.Tasks[i].Started)
	}
	p.from = units.Later(p.from, units.Earlier(back.Add(-say.Seconds(hours*180)), m.At.Add(-say.Seconds(hours*600))))
	p.hair = p.to.Sub(p.from) / 1000
	byNode := map[string][]history.NodeTask{}
	for _, t := range m.Tasks {
		byNode[t.Node] = append(byNode[t.Node], t)
	}
	keys := map[string]int{}
	for i, n := range m.Rows {
		p.node(i, n.NodeView, byNode[n.Name], keys)
	}
	rows := p.limits(len(m.Rows))
	f := plot.Gantt{
		X:   plot.Axis{Unit: plot.Clock, From: seconds(p.from), To: seconds(p.to), Zone: time.Local},
		Now: seconds(p.now), Boxes: p.boxes, Keys: colours(tops, keys), Height: max(70, float64(len(m.Rows)+len(rows))*34),
	}
	for _, n := range m.Rows {
		name := n.Name
		if n.State != "up" {
			name += " · " + n.State
		}
		f.Rows = append(f.Rows, name)
	}
	f.Rows = append(f.Rows, rows...)
	f.Width = 1230
	m.Chart = f
}

// limitName returns the name of a row, with the capacity of the limit.
func (m *Machines) limitName(c *history.LimitSeries) string {
	if !c.Rate {
		return fmt.Sprintf("%s: %s", c.Name, plot.Count(c.Capacity))
	}
	i := slices.IndexFunc(m.Limits.Rates, func(r engine.RateView) bool { return r.Name == c.Name })
	if i < 0 {
		return c.Name
	}
	return c.Name + ": " + m.Limits.Rates[i].Limit
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// coloured returns the top-level pools, in the order of the tree: new pools come last.
func coloured(pools []views.PoolView) (tops []string) {
	for i := range pools {
		if pools[i].Depth == 1 {
			tops = append(tops, pools[i].Path)
		}
	}
	return tops
}

// colours returns the pools with a color of their own, by their place in the tree and not by their tasks, so
// that a pool keeps its color. If there are too many pools, those with the most tasks have a color.
func colours(tops []string, runs map[string]int) []string {
	if len(tops) > plot.Colours {
		return largest(runs)
	}
	return tops
}

// largest returns the keys with the largest values, at most as many as there are colors.
func largest(of map[string]int) []string {
	var keys []string
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	keys = keys[:min(len(keys), plot.Colours)]
	slices.Sort(keys)
	return keys
}

// planner places boxes on the rows of nodes.
type planner struct {
	m             *Machines
	now, from, to time.Time
	hair          time.Duration // boxes shorter than this are invisible: starts and ends are this uncertain
	boxes         []plot.Box

	// The current row: its number, its units, and the occupied parts.
	row   int
	all   int64
	taken []placedBox
}

// placedBox is the part of a row that a box occupies: units, for a time.
type placedBox struct {
	at, units int64
	from, to  time.Time
}

// node adds the boxes of one node.
func (p *planner) node(row int, n *views.NodeView, tasks []history.NodeTask, keys map[string]int) {
	p.row, p.all = row, max(1, n.Has(p.m.Unit))
	p.taken = p.taken[:0]
	slices.SortStableFunc(tasks, func(a, b history.NodeTask) int { return a.Started.Compare(b.Started) })
	for i := range tasks {
		p.task(&tasks[i], keys)
	}
	first := p.to
	for _, w := range n.Windows {
		word := "reserved"
		if w.Maintenance {
			word = "maintenance"
		}
		p.boxes = append(p.boxes, plot.Box{
			Row: row, From: seconds(w.From), To: seconds(w.To), Label: w.Name, Kind: plot.Reservation,
			Tip: fmt.Sprintf("%s: %s\nfrom %s until %s", word, w.Name, instant.Clock(w.From, p.now), instant.Clock(w.To, p.now)),
		})
		first = units.Earlier(first, w.From)
	}
	for _, k := range n.Kept {
		p.add(plot.Box{
			Label: fmt.Sprint(k.Job, " starts"), Kind: plot.Reservation,
			Tip: fmt.Sprintf("planned start: job %d on %s\n%d %s from %s, until %s", k.Job,
				strings.Join(k.Nodes, ", "), k.Units, p.m.Unit, k.Begins(p.now), k.Ends(p.now)),
		}, max(1, k.Units), k.From, k.To)
		first = units.Earlier(first, k.From)
	}
	if free := n.Free[p.m.Unit]; free > 0 && n.State == "up" && first.After(p.now) {
		label := fmt.Sprintf("%d %s free", free, p.m.Unit)
		if first.Before(p.to) {
			label = fmt.Sprintf("%d %s until %s", free, p.m.Unit, instant.Clock(first, p.now))
		}
		tip := label + "\njobs that end by then can run here now"
		p.add(plot.Box{Label: label, Kind: plot.Window, Tip: tip}, free, p.now,
			first)
	}
}

// task adds a running or ended task.
func (p *planner) task(t *history.NodeTask, keys map[string]int) {
	key := topPool(t.Pool)
	keys[key]++
	kind, ends, until := plot.Work, p.to, "without a time limit"
	switch {
	case t.Ended != nil:
		kind, ends, until = plot.Past, *t.Ended, "ended "+instant.Clock(*t.Ended, p.now)
	case t.Ends != nil:
		ends, until = units.Later(*t.Ends, p.now), "until "+instant.Clock(*t.Ends, p.now)+" at the latest"
	}
	tip := fmt.Sprintf("job %s of %s in %s\n%d %s since %s, %s", t.Name(), t.User, t.Pool, t.Units, p.m.Unit,
		instant.Clock(t.Started, p.now), until)
	if t.Queued {
		tip += "\nqueued in its other system: not started"
	}
	if t.Stop != "" {
		tip += "\nis being stopped: " + t.Stop
	}
	p.add(plot.Box{Label: strconv.FormatInt(t.Job, 10), Key: key, Tip: tip, Kind: kind}, t.Units, t.Started, ends)
}

// add places a box in the free part of the row at that time, from the top, in several pieces if other boxes
// are in between. It omits the rest if the row has too little room.
func (p *planner) add(b plot.Box, units int64, from, to time.Time) {
	type span struct{ at, end int64 }
	var busy []span
	for _, x := range p.taken {
		if x.from.Add(p.hair).Before(to) && from.Add(p.hair).Before(x.to) {
			busy = append(busy, span{x.at, x.at + x.units})
		}
	}
	busy = append(busy, span{p.all, p.all})
	slices.SortFunc(busy, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	b.Row, b.From, b.To = p.row, seconds(from), seconds(to)
	widest, most, at := -1, int64(0), int64(0)
	for _, x := range busy {
		if n := min(units, x.at-at); n > 0 {
			piece := b
			piece.Label = ""
			piece.Part = [2]float64{float64(at) / float64(p.all), float64(at+n) / float64(p.all)}
			p.taken = append(p.taken, placedBox{at, n, from, to})
			if p.boxes = append(p.boxes, piece); n > most {
				widest, most = len(p.boxes)-1, n
			}
			units -= n
		}
		at = max(at, x.end)
	}
	if widest >= 0 {
		p.boxes[widest].Label = b.Label
	}
}

// limits adds rows for licenses and rates below the rows of nodes, and returns their names. A name includes
// the capacity, which is the height of the row.
func (p *planner) limits(first int) (names []string) {
	for i, c := range p.m.LimitHistory.All {
		if i == limitsShown {
			break
		}
		names = append(names, p.m.limitName(&c))
		for _, s := range c.Past {
			p.level(first+i, &c, s, plot.Level)
		}
		for _, s := range c.Ahead {
			p.level(first+i, &c, s, plot.Reservation)
		}
	}
	return names
}

// level draws the use of a limit during a time span, from the foot of its row.
func (p *planner) level(row int, c *history.LimitSeries, s history.LimitSpan, kind plot.Kind) {
	until, end := s.Until, "until "+instant.Clock(s.Until, p.now)
	if s.Until.IsZero() {
		until, end = p.to, "end unknown"
	}
	if c.Capacity <= 0 || !until.After(s.From) {
		return
	}
	part := min(1, s.Used/c.Capacity)
	of := fmt.Sprintf("%s of %s", plot.Count(s.Used), plot.Count(c.Capacity))
	if plot.Count(s.Peak) != plot.Count(s.Used) {
		of = fmt.Sprintf("up to %s of %s, %s on average", plot.Count(s.Peak), plot.Count(c.Capacity), plot.Count(s.Used))
	}
	tip := fmt.Sprintf("license %s: %s in use\nfrom %s %s", c.Name, of, instant.Clock(s.From, p.now), end)
	switch {
	case c.Rate && kind == plot.Reservation:
		of = "used up"
		tip = fmt.Sprintf("rate %s: used up by waiting tasks\n%s", c.Name, end)
	case c.Rate:
		tip = fmt.Sprintf("rate %s: %s starts in %s\nfrom %s %s", c.Name, of, plot.Duration(c.StepSeconds),
			instant.Clock(s.From, p.now), end)
	case kind == plot.Reservation:
		tip = fmt.Sprintf("license %s: %s held by running tasks\n%s at the latest", c.Name, of, end)
	}
	p.boxes = append(p.boxes, plot.Box{Row: row, From: seconds(s.From), To: seconds(until), Label: of, Tip: tip,
		Kind: kind, Part: [2]float64{1 - part, 1}})
}

// topPool returns the top-level pool that contains a pool.
func topPool(path string) string {
	top, _, _ := strings.Cut(path, "/")
	return top
}

// limitsShown is the number of licenses and rates with a row in the picture.
const limitsShown = 12
