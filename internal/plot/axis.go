package plot

import (
	"math"
	"time"
)

// Axis describes one direction of a chart.
type Axis struct {
	Label string
	Unit  Unit

	// Log selects a logarithmic axis. Values below the smallest shown value, including 0, are drawn at the
	// edge, and the label of the edge says so.
	Log bool

	// From and To are the ends; if both are zero, they follow from the data.
	From, To float64

	// Zone is the time zone of a clock axis; nil means UTC.
	Zone *time.Location
}

// scale maps values to pixels.
type scale struct {
	from, to float64 // values
	a, b     float64 // their pixels
	log      bool
}

// at returns the pixel of a value; values beyond the ends are drawn at the ends.
func (s scale) at(v float64) float64 {
	v = min(max(v, s.from), s.to)
	f := 0.0
	switch {
	case s.to == s.from:
	case s.log:
		f = math.Log(v/s.from) / math.Log(s.to/s.from)
	default:
		f = (v - s.from) / (s.to - s.from)
	}
	return s.a + f*(s.b-s.a)
}

// reach is the range of finite values, or of positive values for a logarithmic axis.
type reach struct {
	min, max float64
	any      bool
}

func (r *reach) add(v float64, log bool) {
	if !finite(v) || log && v <= 0 {
		return
	}
	if !r.any {
		r.min, r.max, r.any = v, v, true
	}
	r.min, r.max = min(r.min, v), max(r.max, v)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// ends returns the values at the ends of an axis with these data.
func (a Axis) ends(r reach, n int, fromZero, round bool) (from, to float64) {
	if a.From != 0 || a.To != 0 {
		return a.From, a.To
	}
	if !r.any {
		return logSafe(a.Log), 1 + logSafe(a.Log)
	}
	from, to = r.min, r.max
	if a.Log {
		if a.Unit == Seconds {
			from = min(1, from)
			if from < 1 {
				from = math.Pow(10, math.Floor(math.Log10(from)))
			}
		} else {
			from = math.Pow(10, math.Floor(math.Log10(from)+1e-9))
		}
		return from, max(to, from*10)
	}
	if fromZero {
		from, to = min(from, 0), max(to, 0)
	}
	if from == to {
		to = from + 1
	}
	if round {
		step := stepFor(to-from, n, a.Unit)
		from, to = math.Floor(from/step+1e-9)*step, math.Ceil(to/step-1e-9)*step
	}
	return from, to
}

func logSafe(log bool) float64 {
	if log {
		return 1
	}
	return 0
}

// ticks returns the values to mark between the ends.
func (a Axis) ticks(from, to float64, n int) []float64 {
	if a.Log {
		return logTicks(from, to, a.Unit)
	}
	if a.Unit == Clock {
		return a.clockTicks(from, to, n)
	}
	return linearTicks(from, to, n, a.Unit)
}

// clockTicks returns instants at which the clock of the zone shows round times.
func (a Axis) clockTicks(from, to float64, n int) []float64 {
	_, offset := a.instant(from).Zone()
	ticks := linearTicks(from+float64(offset), to+float64(offset), n, Clock)
	for i := range ticks {
		ticks[i] -= float64(offset)
	}
	return ticks
}

func (a Axis) instant(v float64) time.Time {
	zone := a.Zone
	if zone == nil {
		zone = time.UTC
	}
	return time.Unix(int64(v), 0).In(zone)
}

// label writes the value at a tick.
func (a Axis) label(v float64) string {
	if a.Unit != Clock {
		return label(v, a.Unit)
	}
	t := a.instant(v)
	switch h, m, s := t.Clock(); {
	case a.To-a.From > 300*day:
		return t.Format("Jan 2006")
	case h == 0 && m == 0 && s == 0:
		return t.Format("2 Jan")
	case s != 0:
		return t.Format("15:04:05")
	}
	return t.Format("15:04")
}

// area is the part of a picture with the data.
type area struct {
	x, y scale
}

func (p area) left() float64   { return p.x.a }
func (p area) right() float64  { return p.x.b }
func (p area) top() float64    { return p.y.b }
func (p area) bottom() float64 { return p.y.a }

// open starts a group that carries the scales, so that a script can read values off.
func (p area) open(c *canvas, x, y Axis) {
	attributes := []any{"class", "fl-area",
		"data-left", p.left(), "data-right", p.right(), "data-top", p.top(), "data-bottom", p.bottom(),
		"data-x-from", exact(p.x.from), "data-x-to", exact(p.x.to), "data-x-scale", scaleName(x.Log), "data-x-unit", unitNames[x.Unit],
		"data-y-from", exact(p.y.from), "data-y-to", exact(p.y.to), "data-y-scale", scaleName(y.Log), "data-y-unit", unitNames[y.Unit]}
	if x.Unit == Clock {
		_, offset := x.instant(p.x.from).Zone()
		attributes = append(attributes, "data-x-offset", offset)
	}
	c.open("g", attributes...)
}

var unitNames = map[Unit]string{Number: "number", Seconds: "seconds", Percent: "percent", Clock: "clock"}

func scaleName(log bool) string {
	if log {
		return "log"
	}
	return "linear"
}

// drawX draws the axis at the foot with its ticks, the labels for which there is room, and vertical grid
// lines.
func (p area) drawX(c *canvas, a Axis) {
	ticks := a.ticks(p.x.from, p.x.to, p.xTicks(a))
	c.open("g", "class", "fl-grid")
	for _, v := range ticks {
		x := p.x.at(v)
		c.el("line", "x1", x, "x2", x, "y1", p.top(), "y2", p.bottom())
	}
	c.close("g")
	c.el("line", "class", "fl-axis", "x1", p.left(), "x2", p.right(), "y1", p.bottom(), "y2", p.bottom())
	free := math.Inf(-1)
	for i, v := range ticks {
		s := a.label(v)
		if a.Log && i == 0 && v == p.x.from {
			s = "≤" + s
		}
		w := textWidth(s, small)
		x, anchor := p.x.at(v), "middle"
		from := x - w/2
		if from+w > p.right()+12 {
			x, anchor, from = p.right()+12, "end", p.right()+12-w
		}
		if from < free {
			continue
		}
		c.text(x, p.bottom()+17, "fl-dim", anchor, s)
		free = from + w + 8
	}
	if a.Label != "" {
		c.text(p.right(), p.bottom()+35, "fl-dim", "end", cut(a.Label, small, p.right()))
	}
}

// xTicks returns the number of labels that fit side by side.
func (p area) xTicks(a Axis) int {
	widest := max(textWidth(a.label(p.x.to), small), 32)
	return min(max(int((p.right()-p.left())/(widest+28)), 2), 12)
}

// drawY draws the labels of the axis at the left, and horizontal grid lines.
func (p area) drawY(c *canvas, a Axis, ticks []float64) {
	c.open("g", "class", "fl-grid")
	for _, v := range ticks {
		c.el("line", "x1", p.left(), "x2", p.right(), "y1", p.y.at(v), "y2", p.y.at(v))
	}
	c.close("g")
	for i, v := range ticks {
		s := a.label(v)
		if a.Log && i == 0 && v == p.y.from {
			s = "≤" + s
		}
		c.text(p.left()-7, p.y.at(v)+4, "fl-dim", "end", s)
	}
}
