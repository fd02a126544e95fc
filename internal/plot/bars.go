package plot

import (
	"fmt"
	"strings"
)

// maxGroups is the maximum number of groups of bars.
const maxGroups = 60

// Bars are horizontal bars in groups, each bar with its value.
type Bars struct {
	Title  string
	Note   string
	Width  float64
	Unit   Unit
	Series []string // names of the bars of a group, in order
	Styles []int    // of the series, as in Series.Style; without them, their indexes
	Groups []Group
}

// Group holds one bar for each series.
type Group struct {
	Name   string
	Values []float64
}

const (
	barHeight = 15.0
	barGap    = 2.0
	groupGap  = 12.0
)

// At implements [Figure].
func (f Bars) At(width float64) Figure {
	f.Width = width
	return f
}

func (f Bars) draw(c *canvas) (string, float64, float64) {
	width := orElse(f.Width, 900)
	groups := f.Groups[:min(len(f.Groups), maxGroups)]
	note := f.Note
	if left := len(f.Groups) - len(groups); left > 0 {
		note = strings.TrimSpace(fmt.Sprintf("%s The first %d of %d are shown.", note, len(groups), len(f.Groups)))
	}
	y := head(c, f.Title, note, f.legend(), width) + 4
	left, values, most := 40.0, 0.0, 0.0
	for _, g := range groups {
		left = max(left, textWidth(g.Name, middle)+margin+8)
		for _, v := range g.Values {
			if finite(v) {
				most = max(most, v)
				values = max(values, textWidth(label(v, f.Unit), small))
			}
		}
	}
	left = min(left, width*0.38)
	x := scale{from: 0, to: orElse(most, 1), a: left, b: width - margin - values - 8}
	foot := y
	for range groups {
		foot += groupGap + float64(max(len(f.Series), 1))*(barHeight+barGap)
	}
	c.el("line", "class", "fl-axis", "x1", left, "x2", left, "y1", y, "y2", foot)
	for _, g := range groups {
		y = f.drawGroup(c, g, x, y+groupGap/2) + groupGap/2
	}
	return describe(f.Title, f.Note, strings.Join(f.Series, ", ")), width, foot + 10
}

func (f Bars) drawGroup(c *canvas, g Group, x scale, y float64) float64 {
	n := max(len(f.Series), 1)
	mid := y + float64(n)*(barHeight+barGap)/2 + 3.5
	c.open("g", "data-group", g.Name)
	c.title(g.Name)
	c.text(x.a-8, mid, "fl-key", "end", cut(g.Name, middle, x.a-8-margin+0.01))
	c.close("g")
	for i := range n {
		if i < len(g.Values) && finite(g.Values[i]) {
			f.drawBar(c, g.Name, i, g.Values[i], x, y)
		}
		y += barHeight + barGap
	}
	return y
}

// style returns the number of a series' color and texture, from 0.
func (f Bars) style(i int) int {
	if i < len(f.Styles) && f.Styles[i] > 0 {
		return f.Styles[i] - 1
	}
	return i
}

// drawBar draws one bar; negative values have no length, only their number.
func (f Bars) drawBar(c *canvas, group string, i int, v float64, x scale, y float64) {
	name := ""
	if i < len(f.Series) {
		name = f.Series[i]
	}
	w := x.at(v) - x.a
	c.open("g", "class", colour(f.style(i)), "data-series", name, "data-value", exact(v))
	c.title(describe(group, strings.TrimSpace(name+" "+label(v, f.Unit))))
	c.el("rect", "class", "fl-bar", "x", x.a, "y", y, "width", w, "height", barHeight)
	c.texture(f.style(i), x.a, y, w, barHeight)
	c.close("g")
	c.text(x.a+w+5, y+barHeight-3.5, "fl-dim", "start", label(v, f.Unit))
}

// texture hatches a surface in the style of the n-th series: the first not at all, then rising, falling,
// crossed, horizontal and vertical lines.
func (c *canvas) texture(n int, x, y, w, h float64) {
	const class = "fl-mark"
	switch (n + n/Colours) % 6 {
	case 1:
		c.hatch(class, x, y, w, h, 6, false)
	case 2:
		c.hatch(class, x, y, w, h, 6, true)
	case 3:
		c.hatch(class, x, y, w, h, 8, false)
		c.hatch(class, x, y, w, h, 8, true)
	case 4:
		c.ruled(class, x, y, w, h, 5, false)
	case 5:
		c.ruled(class, x, y, w, h, 5, true)
	}
}

// ruled draws horizontal or vertical lines within a rectangle.
func (c *canvas) ruled(class string, x, y, w, h, gap float64, stand bool) {
	var d strings.Builder
	if stand {
		for u := gap / 2; u < w; u += gap {
			fmt.Fprintf(&d, "M%s %sV%s", num(x+u), num(y), num(y+h))
		}
	} else {
		for v := gap / 2; v < h && w > 0; v += gap {
			fmt.Fprintf(&d, "M%s %sH%s", num(x), num(y+v), num(x+w))
		}
	}
	if d.Len() > 0 {
		c.el("path", "class", "fl-hatch "+class, "d", d.String())
	}
}

func (f Bars) legend() []entry {
	if len(f.Series) < 2 {
		return nil
	}
	var legend []entry
	for i, name := range f.Series {
		legend = append(legend, entry{name, func(c *canvas, x, y float64) {
			c.open("g", "class", colour(f.style(i)))
			c.el("rect", "class", "fl-bar", "x", x, "y", y-7, "width", signWidth, "height", 14.0)
			c.texture(f.style(i), x, y-7, signWidth, 14)
			c.close("g")
		}})
	}
	return legend
}
