package plot

import (
	"fmt"
	"strings"
)

// Chart shows values over something, mostly time: as lines, or steps.
type Chart struct {
	Title  string
	Note   string // a line below the title
	Width  float64
	Height float64
	X, Y   Axis
	Series []Series

	// Gap shades the area between the first two series, both of steps.
	Gap *Gap
}

// At implements [Figure].
func (f Chart) At(width float64) Figure {
	f.Width = width
	return f
}

func (f Chart) draw(c *canvas) (string, float64, float64) {
	width, height := orElse(f.Width, 900), orElse(f.Height, 320)
	top := head(c, f.Title, f.Note, f.legend(), width)
	if f.Y.Label != "" {
		top += 6
		c.text(margin, top+6, "fl-dim", "start", cut(f.Y.Label, small, width-2*margin))
		top += 14
	}
	bottom := height - 30
	if f.X.Label != "" {
		bottom -= 16
	}
	bottom = max(bottom, top+60)
	height = max(height, bottom+30)

	var x, y reach
	for _, s := range f.Series {
		for _, p := range s.Points {
			x.add(p.X, f.X.Log)
			y.add(p.Y, f.Y.Log)
		}
	}
	rows := min(max(int((bottom-top)/32), 2), 8)
	var p area
	p.y = scale{a: bottom, b: top + 6, log: f.Y.Log}
	p.y.from, p.y.to = f.Y.ends(y, rows, true, true)
	ticks := f.Y.ticks(p.y.from, p.y.to, rows)
	left := 30.0
	for _, v := range ticks {
		left = max(left, textWidth(f.Y.label(v), small)+margin+4)
	}
	p.x = scale{a: left, b: width - margin - 8, log: f.X.Log}
	p.x.from, p.x.to = f.X.ends(x, 1, false, false)
	p.drawY(c, f.Y, ticks)
	p.drawX(c, f.X)
	p.open(c, f.X, f.Y)
	f.drawSeries(c, p)
	c.close("g")
	if !x.any {
		c.text((p.left()+p.right())/2, (p.top()+p.bottom())/2, "fl-dim", "middle", "no data")
	}
	return f.words(), width, height
}

// drawSeries draws the lines, the first one on top.
func (f Chart) drawSeries(c *canvas, p area) {
	points := make([][]Point, len(f.Series))
	for i, s := range f.Series {
		points[i] = thin(clean(s.Points, p.x.from, p.x.to, s.Gaps), p.x)
	}
	if f.Gap != nil && len(points) > 1 && len(points[0]) > 0 && len(points[1]) > 0 {
		f.Gap.draw(c, p, points[0], points[1])
	}
	for i := len(f.Series) - 1; i >= 0; i-- {
		s, n := f.Series[i], f.Series[i].style(i)
		if len(points[i]) == 0 {
			continue
		}
		kind := "line"
		if s.Step {
			kind = "step"
		}
		c.open("g", "data-series", s.Name, "data-kind", kind, "class", colour(n))
		c.title(s.Name)
		if s.Fill {
			c.el("path", "class", "fl-fill", "d", p.fill(points[i], s.Step))
		}
		attributes := []any{"class", "fl-line", "d", p.path(points[i], s.Step)}
		if d := dash(n); d != "" {
			attributes = append(attributes, "stroke-dasharray", d)
		}
		c.el("path", attributes...)
		c.close("g")
		if len(f.Series) > 1 {
			f.drawMarkers(c, p, points[i], s.Step, i)
		}
	}
}

// drawMarkers puts a few markers on a line, at other places than on its neighbors.
func (f Chart) drawMarkers(c *canvas, p area, points []Point, step bool, place int) {
	const many = 4
	n := f.Series[place].style(place)
	for k := range many {
		px := p.left() + (p.right()-p.left())*(float64(k)+(float64(place)+0.5)/float64(len(f.Series)))/many
		for i := 0; i+1 < len(points); i++ {
			a, b := p.x.at(points[i].X), p.x.at(points[i+1].X)
			if px < a || px >= b || points[i].unknown() || points[i+1].unknown() && !step {
				continue
			}
			py := p.y.at(points[i].Y)
			if !step {
				py += (p.y.at(points[i+1].Y) - py) * (px - a) / (b - a)
			}
			c.marker(n, px, py)
			break
		}
	}
}

func (f Chart) legend() []entry {
	var legend []entry
	if len(f.Series) > 1 {
		for i, s := range f.Series {
			n := s.style(i)
			legend = append(legend, entry{s.Name, func(c *canvas, x, y float64) {
				attributes := []any{"class", "fl-line " + colour(n), "x1", x, "x2", x + signWidth, "y1", y, "y2", y}
				if d := dash(n); d != "" {
					attributes = append(attributes, "stroke-dasharray", d)
				}
				c.el("line", attributes...)
				c.marker(n, x+signWidth/2, y)
			}})
		}
	}
	if f.Gap != nil && len(f.Series) > 1 {
		for i, name := range []string{f.Gap.Less, f.Gap.More} {
			legend = append(legend, entry{name, func(c *canvas, x, y float64) {
				class := gapClass(i == 1)
				c.el("rect", "class", "fl-gap "+class, "x", x, "y", y-6, "width", signWidth, "height", 12.0)
				c.hatch(class, x, y-6, signWidth, 12, 7, i == 1)
			}})
		}
	}
	return legend
}

// words describes the chart, for readers who cannot see it.
func (f Chart) words() string {
	var names []string
	for _, s := range f.Series {
		names = append(names, s.Name)
	}
	return describe(f.Title, f.Note, fmt.Sprintf("%s over %s: %s", orText(f.Y.Label, "values"), orText(f.X.Label, "time"),
		strings.Join(names, ", ")))
}

func describe(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, ". ")
}

func orElse(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
