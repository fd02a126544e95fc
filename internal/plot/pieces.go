package plot

import (
	"fmt"
	"slices"
)

// Pieces is a line of pieces, such as the work before a job by owner. Thin lines divide each piece into
// its jobs, so that one large job and two thousand small ones look different.
type Pieces struct {
	Title string
	Unit  string
	Parts []Piece
	Width float64
}

// Piece is a part of a line of pieces.
type Piece struct {
	Name  string
	Value float64
	Count int64
}

// stackKept is the number of pieces with a color of their own; the rest become one piece.
const stackKept = 6

// At implements [Figure].
func (f Pieces) At(width float64) Figure {
	f.Width = width
	return f
}

func (f Pieces) draw(c *canvas) (string, float64, float64) {
	const top, height = 2.0, 30.0
	width := orElse(f.Width, 640)
	parts := f.Parts
	if len(parts) > stackKept {
		parts = slices.Clone(parts[:stackKept])
		rest := Piece{Name: fmt.Sprintf("%d more", len(f.Parts)-stackKept)}
		for _, p := range f.Parts[stackKept:] {
			rest.Value, rest.Count = rest.Value+p.Value, rest.Count+p.Count
		}
		parts = append(parts, rest)
	}
	sum := 0.0
	for _, p := range parts {
		if finite(p.Value) {
			sum += max(0, p.Value)
		}
	}
	x := scale{from: 0, to: orElse(sum, 1), a: 1, b: width - 1}
	from := 0.0
	for i, p := range parts {
		if !finite(p.Value) || p.Value <= 0 {
			continue
		}
		a, b := x.at(from), x.at(from+p.Value)
		from += p.Value
		class := colour(i)
		if i == stackKept {
			class = "fl-rest"
		}
		c.open("g", "class", class, "data-name", p.Name, "data-value", exact(p.Value), "data-count", int(p.Count))
		c.title(fmt.Sprintf("%s: %s %s in %s", p.Name, Count(p.Value), f.Unit, plural(p.Count, "job")))
		c.el("rect", "class", "fl-box", "x", a, "y", top, "width", b-a, "height", height)
		if each := (b - a) / float64(max(p.Count, 1)); p.Count > 1 && each >= 1.5 {
			for k := int64(1); k < p.Count; k++ {
				c.el("line", "class", "fl-hatch", "x1", a+float64(k)*each, "x2", a+float64(k)*each, "y1", top, "y2", top+height)
			}
		} else if p.Count > 1 {
			c.ruled("", a, top, b-a, height, 3, true)
		}
		c.close("g")
		if name := cut(p.Name, small, b-a-10); name != "" && name != "…" {
			c.text(a+5, top+19, "fl-on", "start", name)
			c.text(a+5, top+19, "", "start", name)
		}
	}
	return describe(f.Title, fmt.Sprintf("%d pieces", len(f.Parts))), width, height + 2*top
}

func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(float64(n)) + " " + thing + "s"
}
