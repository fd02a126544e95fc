package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxBoxes is the maximum number of boxes; the largest are drawn.
const maxBoxes = 2000

// Gantt shows which owner occupies which rows, and when. Rows are nodes, or processors.
type Gantt struct {
	Title  string
	Note   string
	Width  float64
	Height float64 // minimum height of all rows together; 0 means that it follows from their number
	X      Axis

	// Rows are the names of the rows, the first on top. Without names there are Count rows, numbered from 1
	// at the foot.
	Rows  []string
	Count int

	Boxes []Box

	// Now is the instant at which a vertical line is drawn; 0 means no line.
	Now float64

	// Keys are the owners with a color of their own, in the order of the legend. All others share one color.
	Keys []string

	// Plain omits the legend and the names of owners, for charts whose rows are the owners.
	Plain bool
}

// Kind is the kind of a box.
type Kind int

const (
	Work        Kind = iota // a run of a job
	Reservation             // reserved; hatched
	Window                  // free until something begins; outlined
	Past                    // an ended run; pale
	Level                   // the used part of a row, from its foot
)

// Box is a rectangle of rows and time.
type Box struct {
	Row, Span int    // the first row, counted as Rows are, and the number of rows (0 means one)
	Also      []Rows // further rows of the same box; the label is in the largest piece
	From, To  float64
	Label     string // within the box, if it fits
	Key       string // the owner
	Tip       string // lines for the tooltip
	Kind      Kind

	// Part is the vertical part of its row that the box takes, from 0 at the top to 1 at the foot. If both
	// ends are zero, the box takes the whole height.
	Part [2]float64
}

// Rows are adjacent rows.
type Rows struct{ First, Count int }

// pieces returns all rows of a box.
func (b Box) pieces() []Rows { return append([]Rows{{b.Row, max(b.Span, 1)}}, b.Also...) }

// rows returns the number of rows of a box.
func (b Box) rows() int {
	n := 0
	for _, r := range b.pieces() {
		n += r.Count
	}
	return n
}

// within reports whether a box can be drawn on "count" rows and overlaps the time between two instants. If both
// instants are zero, any time will do.
func (b Box) within(count int, from, to float64) bool {
	for _, r := range b.pieces() {
		if r.First < 0 || r.Count < 1 || r.First+r.Count > count {
			return false
		}
	}
	return finite(b.From) && finite(b.To) && b.To >= b.From && (from == 0 && to == 0 || b.To > from && b.From < to)
}

// At implements [Figure].
func (f Gantt) At(width float64) Figure {
	f.Width = width
	return f
}

func (f Gantt) draw(c *canvas) (string, float64, float64) {
	width := orElse(f.Width, 900)
	count := max(len(f.Rows), f.Count, 1)
	if len(f.Rows) > 0 {
		count = len(f.Rows)
	}
	boxes, note := f.largest(count)
	top := head(c, f.Title, note, f.legend(boxes), width) + 4
	height := f.Height
	if height == 0 {
		height = min(max(float64(count)*26, 80), 480)
	}
	var x reach
	for _, b := range boxes {
		x.add(b.From, false)
		x.add(b.To, false)
	}
	p := area{y: scale{from: 0, to: float64(count), a: top + height, b: top}}
	left := 34.0
	for _, name := range f.Rows {
		left = max(left, textWidth(name, small)+margin+6)
	}
	if len(f.Rows) == 0 {
		left = max(left, textWidth(Count(float64(count)), small)+margin+6)
	}
	p.x = scale{a: min(left, width*0.3), b: width - margin - 8}
	p.x.from, p.x.to = f.X.ends(x, 1, false, false)
	p.drawX(c, f.X)
	f.drawRows(c, p, count)
	p.open(c, f.X, Axis{})
	for _, b := range boxes {
		f.drawBox(c, p, b)
	}
	c.close("g")
	if f.Now > p.x.from && f.Now < p.x.to {
		c.el("line", "class", "fl-now", "x1", p.x.at(f.Now), "x2", p.x.at(f.Now), "y1", p.top()-3, "y2", p.bottom()+3)
	}
	foot := p.bottom() + 30
	if f.X.Label != "" {
		foot += 16
	}
	return describe(f.Title, f.Note, fmt.Sprintf("%d boxes on %d rows", len(boxes), count)), width, foot
}

// largest returns the boxes to draw: all boxes within the rows and the time or, if there are too many, the
// largest of them; then the note says so.
func (f Gantt) largest(count int) ([]Box, string) {
	var boxes []Box
	for _, b := range f.Boxes {
		if b.within(count, f.X.From, f.X.To) {
			boxes = append(boxes, b)
		}
	}
	note := f.Note
	if len(boxes) > maxBoxes {
		all := len(boxes)
		slices.SortStableFunc(boxes, func(a, b Box) int {
			return cmp.Compare((b.To-b.From)*float64(b.rows()), (a.To-a.From)*float64(a.rows()))
		})
		boxes = boxes[:maxBoxes]
		note = strings.TrimSpace(fmt.Sprintf("%s The largest %s of %s boxes are drawn.", note, Count(maxBoxes),
			Count(float64(all))))
	}
	slices.SortStableFunc(boxes, func(a, b Box) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Row, b.Row))
	})
	return boxes, note
}

// drawRows draws the lines between rows and their names, if there is room for them.
func (f Gantt) drawRows(c *canvas, p area, count int) {
	each := (p.bottom() - p.top()) / float64(count)
	if len(f.Rows) == 0 {
		ticks := linearTicks(0, float64(count), int((p.bottom()-p.top())/40), Number)
		for _, v := range ticks {
			if v == 0 || v != float64(int(v)) {
				continue
			}
			y := p.bottom() - (v-0.5)*each
			c.text(p.left()-7, y+4, "fl-dim", "end", Count(v))
			c.el("line", "class", "fl-axis", "x1", p.left()-4, "x2", p.left(), "y1", y, "y2", y)
		}
		return
	}
	free := p.top() - small
	for i, name := range f.Rows {
		y := p.top() + float64(i)*each
		if each >= 6 {
			c.el("line", "class", "fl-grid", "x1", p.left(), "x2", p.right(), "y1", y, "y2", y)
		}
		if mid := y + each/2; mid-small/2 >= free {
			c.open("g")
			c.title(name)
			c.text(p.left()-7, mid+4, "", "end", cut(name, small, p.left()-7-4))
			c.close("g")
			free = mid + small/2
		}
	}
}

// style returns the number of an owner's color; -1 is the color of all others.
func (f Gantt) style(key string) int { return slices.Index(f.Keys, key) }

func (f Gantt) drawBox(c *canvas, p area, b Box) {
	n := f.style(b.Key)
	class := "fl-rest"
	if n >= 0 {
		class = colour(n)
	}
	var d strings.Builder
	var label rectangle // the piece with the most rows
	places := f.places(p, b)
	for _, q := range places {
		if q.h > label.h {
			label = q
		}
		fmt.Fprintf(&d, "M%s %sH%sV%sH%sZ", num(q.x), num(q.y), num(q.x+max(q.w, 0.6)), num(q.y+max(q.h, 0.6)), num(q.x))
	}
	c.open("g", "class", class, "data-key", b.Key)
	if b.Tip != "" {
		c.title(b.Tip)
	}
	kind := "fl-box"
	switch b.Kind {
	case Window:
		kind = "fl-box fl-free"
	case Past:
		kind = "fl-box fl-past"
	case Level:
		kind = "fl-box fl-level"
	}
	c.el("path", "class", kind, "d", d.String())
	for _, q := range places {
		if b.Kind == Reservation {
			c.hatch("", q.x, q.y, q.w, q.h, 6, false)
		} else if n >= Colours && q.w >= 4 && q.h >= 4 {
			c.hatch("", q.x, q.y, q.w, q.h, 9, true)
		}
	}
	f.boxLabel(c, b, label.x, label.y, label.w, label.h)
	c.close("g")
}

// rectangle is a rectangle in pixels.
type rectangle struct{ x, y, w, h float64 }

// places returns the rectangles of a box, from the top. It joins rectangles less than a pixel apart, so that
// a box with many scattered rows has no more pieces than the picture has lines.
func (f Gantt) places(p area, b Box) []rectangle {
	var all []rectangle
	for _, r := range b.pieces() {
		all = append(all, f.place(p, b, r))
	}
	slices.SortFunc(all, func(a, b rectangle) int { return cmp.Compare(a.y, b.y) })
	joined := all[:1]
	for _, q := range all[1:] {
		if last := &joined[len(joined)-1]; q.y-(last.y+last.h) < 1 && last.h < 8 {
			last.h = max(last.h, q.y+q.h-last.y)
			continue
		}
		joined = append(joined, q)
	}
	return joined
}

// place returns the rectangle of some rows of a box, a little smaller, to keep a distance from its
// neighbors.
func (f Gantt) place(p area, b Box, r Rows) rectangle {
	each := (p.bottom() - p.top()) / p.y.to
	q := rectangle{x: p.x.at(b.From), y: p.top() + float64(r.First)*each, h: float64(r.Count) * each}
	if len(f.Rows) == 0 {
		q.y = p.bottom() - float64(r.First+r.Count)*each
	}
	q.w = p.x.at(b.To) - q.x
	if b.Part != [2]float64{} {
		q.y, q.h = q.y+2+b.Part[0]*(q.h-4), (b.Part[1]-b.Part[0])*(q.h-4)
	}
	if q.h >= 8 {
		q.y, q.h = q.y+0.5, q.h-1
	}
	if q.w >= 4 {
		q.w--
	}
	return q
}

// boxLabel writes the label and the owner into a box, as far as there is room.
func (f Gantt) boxLabel(c *canvas, b Box, x, y, w, h float64) {
	if h < 11 || b.Label == "" {
		return
	}
	whole := strings.TrimSpace(b.Label + " " + b.Key)
	if f.Plain {
		whole = b.Label
	}
	for _, s := range []string{whole, b.Label} {
		if textWidth(s, small) <= w-6 {
			c.text(x+w/2, y+h/2+4, "fl-on", "middle", s)
			return
		}
	}
}

func (f Gantt) legend(boxes []Box) []entry {
	var legend []entry
	if f.Plain {
		return nil
	}
	sign := func(b Box) func(c *canvas, x, y float64) {
		return func(c *canvas, x, y float64) {
			p := area{x: scale{from: 0, to: 1, a: x, b: x + signWidth}, y: scale{from: 0, to: 1, a: y + 7, b: y - 7}}
			b.From, b.To, b.Row, b.Span, b.Label, b.Tip, b.Part = 0, 1, 0, 1, "", "", [2]float64{}
			if b.Kind == Level {
				b.Part = [2]float64{0.4, 1}
			}
			Gantt{Keys: f.Keys, Count: 1}.drawBox(c, p, b)
		}
	}
	for _, k := range f.Keys {
		legend = append(legend, entry{k, sign(Box{Key: k})})
	}
	if slices.ContainsFunc(boxes, func(b Box) bool { return f.style(b.Key) < 0 && (b.Kind == Work || b.Kind == Past) }) {
		legend = append(legend, entry{"others", sign(Box{Key: "\x00"})})
	}
	for _, k := range []struct {
		kind Kind
		name string
	}{{Past, "ended"}, {Level, "part in use"}, {Reservation, "reserved"}, {Window, "free until"}} {
		if slices.ContainsFunc(boxes, func(b Box) bool { return b.Kind == k.kind }) {
			legend = append(legend, entry{k.name, sign(Box{Key: "\x00", Kind: k.kind})})
		}
	}
	return legend
}
