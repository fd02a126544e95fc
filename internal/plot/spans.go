package plot

import "fmt"

// Spans shows instants that are known within bounds, one below the other, on one axis of seconds from
// now.
type Spans struct {
	Title string
	Width float64
	Rows  []Span
}

// Span is one instant.
type Span struct {
	Name string
	// By is the latest instant, in seconds; nil if it is unknown.
	By *float64
	// Early, Middle and Late describe the likely instants, if Likely is set.
	Likely              bool
	Early, Middle, Late float64
	Text                string // beside the row, if nothing is known
}

// At implements [Figure].
func (f Spans) At(width float64) Figure {
	f.Width = width
	return f
}

func (f Spans) draw(c *canvas) (string, float64, float64) {
	const row = 40.0
	width := orElse(f.Width, 640)
	var x reach
	x.add(0, false)
	left := 30.0
	for _, s := range f.Rows {
		if s.By != nil {
			x.add(*s.By, false)
		}
		if s.Likely {
			x.add(s.Late, false)
		}
		left = max(left, textWidth(s.Name, middle)+margin+8)
	}
	top := head(c, f.Title, "", nil, width)
	p := area{y: scale{from: 0, to: 1, a: top + row*float64(len(f.Rows)), b: top}}
	p.x = scale{from: 0, to: max(x.max*1.06, 60), a: min(left, width*0.3), b: width - margin - 14}
	axis := Axis{Unit: Seconds}
	p.drawX(c, axis)
	for i, s := range f.Rows {
		f.drawRow(c, p, s, top+row*float64(i)+row/2)
	}
	return describe(f.Title, fmt.Sprintf("seconds from now to %s", Duration(p.x.to))), width, p.bottom() + 26
}

func (f Spans) drawRow(c *canvas, p area, s Span, mid float64) {
	c.text(p.left()-8, mid+4.5, "fl-key", "end", cut(s.Name, middle, p.left()-12))
	if s.Likely {
		a, b := p.x.at(s.Early), p.x.at(s.Late)
		c.open("g", "class", colour(0), "data-early", exact(s.Early), "data-middle", exact(s.Middle), "data-late",
			exact(s.Late))
		c.title(fmt.Sprintf("most replays: in %s to %s, median %s", Duration(s.Early), Duration(s.Late), Duration(s.Middle)))
		c.el("rect", "class", "fl-box", "x", a, "y", mid-9, "width", max(b-a, 3), "height", 18.0)
		c.el("line", "class", "fl-line", "x1", p.x.at(s.Middle), "x2", p.x.at(s.Middle), "y1", mid-9, "y2", mid+9)
		c.close("g")
	}
	if s.By != nil {
		at := p.x.at(*s.By)
		c.open("g", "data-by", exact(*s.By))
		c.title("at the latest in " + Duration(*s.By))
		c.el("rect", "class", "fl-bullet-mark", "x", at-1.5, "y", mid-13, "width", 3.0, "height", 26.0)
		c.el("path", "class", "fl-bullet-point", "d", fmt.Sprintf("M%s %sl6 5l-6 5Z", num(at+1.5), num(mid-13)))
		c.close("g")
	}
	if s.By == nil && !s.Likely {
		c.text(p.left()+8, mid+4.5, "fl-dim", "start", cut(s.Text, middle, p.right()-p.left()-16))
	}
}
