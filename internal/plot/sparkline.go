package plot

import "math"

// Sparkline is a time series in the size of a word, for a row of a table: the values as an area, and their
// reference as a line. It has no axes; a description is its tooltip.
type Sparkline struct {
	Says     string // the description
	Width    float64
	From, To float64 // of time
	Area     []Point // steps; NaN where values are unknown
	Line     []Point // the same for the reference; empty: only the area
	Max      float64 // the end of the scale; 0 means that it follows from the values
}

// At implements [Figure].
func (f Sparkline) At(width float64) Figure {
	f.Width = width
	return f
}

func (f Sparkline) draw(c *canvas) (string, float64, float64) {
	const height = 22.0
	width, most := orElse(f.Width, 120), f.Max
	for _, points := range [][]Point{f.Area, f.Line} {
		for _, p := range points {
			if most < p.Y && finite(p.Y) && f.Max == 0 {
				most = p.Y
			}
		}
	}
	c.title(f.Says)
	p := area{x: scale{from: f.From, to: math.Max(f.To, f.From+1), a: 2, b: width - 2},
		y: scale{from: 0, to: orElse(most, 1), a: height - 3, b: 3}}
	c.el("line", "class", "fl-grid", "x1", 2.0, "x2", width-2, "y1", height-2.5, "y2", height-2.5)
	if points := thin(clean(f.Area, f.From, f.To, true), p.x); len(points) > 0 {
		c.el("path", "class", "fl-spark-area", "d", p.fill(points, true))
	}
	if points := thin(clean(f.Line, f.From, f.To, true), p.x); len(points) > 0 {
		c.el("path", "class", "fl-spark-line", "d", p.path(points, true))
	}
	return f.Says, width, height
}
