package plot

import (
	"fmt"
	"slices"
	"strings"
)

// gapClass returns the class of the area where a series is below or above another.
func gapClass(more bool) string {
	if more {
		return "fl-c1"
	}
	return "fl-c0"
}

// draw shades the area between two lines of steps: in one style where the second line is below the first,
// in another style where it is above.
func (g Gap) draw(c *canvas, p area, base, over []Point) {
	var at []float64
	from, to := max(base[0].X, over[0].X), max(base[len(base)-1].X, over[len(over)-1].X)
	for _, q := range slices.Concat(base, over) {
		if q.X >= from {
			at = append(at, q.X)
		}
	}
	slices.Sort(at)
	at = append(slices.Compact(at), to)
	for _, more := range []bool{false, true} {
		var area, lines strings.Builder
		for i := 0; i+1 < len(at); i++ {
			u, v := value(base, at[i], true), value(over, at[i], true)
			if u == v || v > u != more || !finite(u) || !finite(v) {
				continue
			}
			x0, x1 := p.x.at(at[i]), p.x.at(at[i+1])
			y0, y1 := p.y.at(u), p.y.at(v)
			fmt.Fprintf(&area, "M%s %sH%sV%sH%sZ", num(x0), num(y0), num(x1), num(y1), num(x0))
			slant(&lines, x0, x1, y0, y1, more)
		}
		if area.Len() == 0 {
			continue
		}
		name := g.Less
		if more {
			name = g.More
		}
		c.open("g", "class", gapClass(more))
		c.title(name)
		c.el("path", "class", "fl-gap", "d", area.String())
		if lines.Len() > 0 {
			c.el("path", "class", "fl-hatch", "d", lines.String())
		}
		c.close("g")
	}
}

// slant draws the slanted lines within a rectangle. The lines belong to one pattern over the whole picture,
// so that neighboring rectangles fit together. On each line, x+y (rising) or x-y (falling) is a multiple of
// seven.
func slant(d *strings.Builder, x0, x1, y0, y1 float64, falling bool) {
	const gap = 7.0
	y0, y1 = min(y0, y1), max(y0, y1)
	if x1-x0 < 0.3 || y1-y0 < 0.3 {
		return
	}
	sign := 1.0
	if falling {
		sign = -1
	}
	low, high := x0+min(sign*y0, sign*y1), x1+max(sign*y0, sign*y1)
	for s := float64(int(low/gap)-1) * gap; s <= high; s += gap {
		// On the line x + sign*y = s, x runs from one edge of the rectangle to another.
		a, b := max(x0, min(s-sign*y0, s-sign*y1)), min(x1, max(s-sign*y0, s-sign*y1))
		if b-a < 0.2 {
			continue
		}
		fmt.Fprintf(d, "M%s %sL%s %s", num(a), num((s-a)*sign), num(b), num((s-b)*sign))
	}
}

// Gap names the areas where the second series is below and above the first, such as owed and borrowed. The
// two areas are hatched in different directions.
type Gap struct{ Less, More string }
