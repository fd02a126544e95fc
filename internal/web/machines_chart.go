package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/plot"
	say "github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

// horizons are how far the picture of the nodes looks back and ahead, in hours.
var horizons = []float64{1, 6, 24, 168}

// timeline draws what is on the nodes of the page, over time: what runs, until when at most; for
// whom room is kept; reservations; and the room that is free until one of these begins.
func (m *Machines) timeline(r *Request) {
	hours, err := strconv.ParseFloat(r.Word("hours"), 64)
	if err != nil || !slices.Contains(horizons, hours) {
		hours = 6
	}
	for _, h := range horizons {
		m.Spans = append(m.Spans, sortLink{why.Duration(say.Seconds(h * 3600)), r.With("hours", strconv.FormatFloat(h, 'f', -1, 64)), h == hours})
	}
	p := planner{m: m, now: m.At, from: m.At.Add(-say.Seconds(hours * 3600)), to: m.At.Add(say.Seconds(hours * 3600))}
	// What is over is not shown: where everything has begun lately, there is no need to look back far.
	back := p.to
	for i := range m.Tasks {
		back = earlier(back, m.Tasks[i].Started)
	}
	p.from = laterOf(p.from, earlier(back.Add(-say.Seconds(hours*180)), m.At.Add(-say.Seconds(hours*600))))
	byNode := map[string][]fairlead.NodeTask{}
	for _, t := range m.Tasks {
		byNode[t.Node] = append(byNode[t.Node], t)
	}
	keys := map[string]int{}
	for i, n := range m.Rows {
		p.node(i, n.NodeView, byNode[n.Name], keys)
	}
	f := plot.Gantt{
		X:   plot.Axis{Unit: plot.Clock, From: seconds(p.from), To: seconds(p.to), Zone: time.Local},
		Now: seconds(p.now), Boxes: p.boxes, Keys: largest(keys), Height: max(70, float64(len(m.Rows))*34),
	}
	for _, n := range m.Rows {
		name := n.Name
		if n.State != "up" {
			name += " · " + n.State
		}
		f.Rows = append(f.Rows, name)
	}
	m.Wide, m.Narrow = f, f
	m.Wide.Width, m.Narrow.Width = 1230, 360
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// largest are the keys that have most, as many as there are colours.
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
	boxes         []plot.Box
	taken         []placedBox // on the row at hand
}

// placedBox is what a box takes of its row: units, for a time.
type placedBox struct {
	at, units int64
	from, to  time.Time
}

// node adds the boxes of one node.
func (p *planner) node(row int, n *fairlead.NodeView, tasks []fairlead.NodeTask, keys map[string]int) {
	all := max(1, n.Capacity[p.m.Unit])
	p.taken = p.taken[:0]
	for i := range tasks {
		t := &tasks[i]
		key := topPool(t.Pool)
		keys[key]++
		ends, until := p.to, "without a time limit"
		if t.Ends != nil {
			ends, until = *t.Ends, "until "+why.Clock(*t.Ends, p.now)+" at most"
			if ends.Before(p.now) {
				ends = p.now
			}
		}
		tip := fmt.Sprintf("job %s of %s in %s\n%d %s since %s, %s", jobName(t.Job, t.Task), t.User, t.Pool, t.Units, p.m.Unit, why.Clock(t.Started, p.now), until)
		if t.Stop != "" {
			tip += "\nis being stopped: " + t.Stop
		}
		p.add(plot.Box{Row: row, Label: strconv.FormatInt(t.Job, 10), Key: key, Tip: tip}, t.Units, all, t.Started, ends)
	}
	first := p.to
	for _, w := range n.Windows {
		word := "reserved"
		if w.Maintenance {
			word = "maintenance"
		}
		p.boxes = append(p.boxes, plot.Box{
			Row: row, From: seconds(w.From), To: seconds(w.To), Label: w.Name, Kind: plot.Reservation,
			Tip: fmt.Sprintf("%s: %s\nfrom %s until %s", word, w.Name, why.Clock(w.From, p.now), why.Clock(w.To, p.now)),
		})
		first = earlier(first, w.From)
	}
	for _, k := range n.Kept {
		p.add(plot.Box{
			Row: row, Label: fmt.Sprint(k.Job, " starts"), Kind: plot.Reservation,
			Tip: fmt.Sprintf("room is kept for job %d on %s\nfrom %s, until %s at most", k.Job, strings.Join(k.Nodes, ", "), why.Clock(k.From, p.now), why.Clock(k.To, p.now)),
		}, p.left(all, k.From), all, k.From, k.To)
		first = earlier(first, k.From)
	}
	if free := n.Free[p.m.Unit]; free > 0 && n.State == "up" && first.After(p.now) {
		label := fmt.Sprintf("%d %s free", free, p.m.Unit)
		if first.Before(p.to) {
			label = fmt.Sprintf("%d %s until %s", free, p.m.Unit, why.Clock(first, p.now))
		}
		p.add(plot.Box{Row: row, Label: label, Kind: plot.Window, Tip: label + "\nwhat ends by then can run here now"}, free, all, p.now, first)
	}
}

// earlier is the earlier of two instants of which the second is to come.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// left is what nothing has of a row at an instant, or all of it.
func (p *planner) left(all int64, at time.Time) int64 {
	left := all
	for _, x := range p.taken {
		if !x.from.After(at) && at.Before(x.to) {
			left -= x.units
		}
	}
	if left <= 0 {
		return all
	}
	return left
}

// add places a box where the row has room for it at that time, from the top.
func (p *planner) add(b plot.Box, units, all int64, from, to time.Time) {
	at := int64(0)
	for moved := true; moved; {
		moved = false
		for _, x := range p.taken {
			if x.from.Before(to) && from.Before(x.to) && x.at < at+units && at < x.at+x.units {
				at, moved = x.at+x.units, true
			}
		}
	}
	if at+units > all { // it is in pieces: others are in between
		at = max(0, all-units)
	}
	p.taken = append(p.taken, placedBox{at, units, from, to})
	b.From, b.To = seconds(from), seconds(to)
	b.Part = [2]float64{float64(at) / float64(all), min(1, float64(at+units)/float64(all))}
	p.boxes = append(p.boxes, b)
}

// topPool is the pool at the top in which another one is.
func topPool(path string) string {
	top, _, _ := strings.Cut(path, "/")
	return top
}

func jobName(job int64, task int) string {
	if task == 0 {
		return strconv.FormatInt(job, 10)
	}
	return fmt.Sprintf("%d (task %d)", job, task)
}
