package plot

import "fmt"

// Bullet is a row of a table as a picture: a value beside its references. It is small enough to be read
// beside other pictures of the same scale.
type Bullet struct {
	Name string // of the subject
	Unit string
	// Bar is the present value, and Back the past value, in the same unit.
	Bar, Back float64
	// Mark is the goal, a line across; Point is the right value at this moment, a diamond.
	Mark, Point float64
	// Want is the demand, drawn as an outline.
	Want float64
	// To is the end of the scale; 0 means that it follows from the values.
	To    float64
	Width float64
	// Percent is set if the values are fractions: then the words for them are "share" and "used".
	Percent bool
	// If the values are fractions, Says replaces the words for the bar and the line.
	Says []string
}

// At implements [Figure].
func (f Bullet) At(width float64) Figure {
	f.Width = width
	return f
}

func (f Bullet) draw(c *canvas) (string, float64, float64) {
	const height, mid = 22.0, 11.0
	width := orElse(f.Width, 190)
	to := orElse(f.To, max(f.Bar, f.Back, f.Mark, f.Point))
	x := scale{from: 0, to: orElse(to, 1), a: 6, b: width - 6}
	words := fmt.Sprintf("%s: %s %s now, share %s, entitled %s, usage %s", f.Name, Count(f.Bar), f.Unit, Count(f.Mark),
		Count(f.Point), Count(f.Back))
	if f.Percent {
		bar, mark := "used", "share"
		if len(f.Says) == 2 {
			bar, mark = f.Says[0], f.Says[1]
		}
		words = fmt.Sprintf("%s: %s %s, %s %s", f.Name, mark, label(f.Mark, Percent), bar, label(f.Bar, Percent))
	}
	c.title(words)
	c.el("line", "class", "fl-grid", "x1", x.a, "x2", x.b, "y1", mid, "y2", mid)
	if finite(f.Back) && f.Back > 0 {
		c.el("rect", "class", "fl-bullet-back", "x", x.a, "y", mid-7, "width", x.at(f.Back)-x.a, "height", 14.0)
	}
	if finite(f.Want) && f.Want > f.Bar {
		c.el("rect", "class", "fl-bullet-want", "x", x.at(max(0, f.Bar)), "y", mid-3.5, "width",
			x.at(f.Want)-x.at(max(0, f.Bar)), "height", 7.0)
	}
	if finite(f.Bar) && f.Bar > 0 {
		c.el("rect", "class", "fl-bullet-bar", "x", x.a, "y", mid-3.5, "width", x.at(f.Bar)-x.a, "height", 7.0)
	}
	if finite(f.Mark) && f.Mark > 0 {
		c.el("rect", "class", "fl-bullet-mark", "x", x.at(f.Mark)-1.25, "y", mid-9, "width", 2.5, "height", 18.0)
	}
	if finite(f.Point) && f.Point > 0 {
		at := x.at(f.Point)
		c.el("path", "class", "fl-bullet-point", "d", fmt.Sprintf("M%s %sl4 4l-4 4l-4 -4Z", num(at), num(mid-4)))
	}
	return words, width, height
}
