package plot

import "fmt"

// Cells shows many things at a glance, as small squares in reading order: how full each thing is, and
// which things take no work. A slash marks a cell that takes no new work, a cross marks one that is gone.
type Cells struct {
	Name  string
	Width float64
	Cells []Cell
}

// Cell is one square.
type Cell struct {
	Name  string
	Full  float64 // from 0 to 1
	Drain bool
	Gone  bool
}

// maxCells is the number of cells up to which each cell has a tooltip.
const maxCells = 400

// At implements [Figure].
func (f Cells) At(width float64) Figure {
	f.Width = width
	return f
}

func (f Cells) draw(c *canvas) (string, float64, float64) {
	const size, step = 13.0, 16.0
	width := orElse(f.Width, 900)
	columns := max(1, int((width-2)/step))
	var used, slash []byte
	full, out := 0, 0
	for i, x := range f.Cells {
		left, top := 1.5+float64(i%columns)*step, 1.5+float64(i/columns)*step
		if h := size * min(max(x.Full, 0), 1); h > 0 && !x.Gone {
			used = fmt.Appendf(used, "M%s %sh%sv%sh%sZ", num(left), num(top+size-h), num(size), num(h), num(-size))
		}
		if x.Full >= 1 {
			full++
		}
		if x.Drain || x.Gone {
			out++
			slash = fmt.Appendf(slash, "M%s %sl%s %s", num(left), num(top+size), num(size), num(-size))
		}
		if x.Gone {
			slash = fmt.Appendf(slash, "M%s %sl%s %s", num(left), num(top), num(size), num(size))
		}
	}
	c.el("path", "class", "fl-cell-used", "d", string(used))
	for i, x := range f.Cells {
		attributes := []any{"class", "fl-cell", "x", 1.5 + float64(i%columns)*step, "y", 1.5 + float64(i/columns)*step,
			"width", size, "height", size}
		if len(f.Cells) > maxCells {
			c.el("rect", attributes...)
			continue
		}
		c.open("g")
		c.title(fmt.Sprintf("%s: %s%%", x.Name, Count(float64(int(100*x.Full+0.5)))))
		c.el("rect", append(attributes, "pointer-events", "all")...)
		c.close("g")
	}
	c.el("path", "class", "fl-cell-out", "d", string(slash))
	lines := (len(f.Cells) + columns - 1) / columns
	return describe(f.Name, fmt.Sprintf("%d total, %d full, %d out of use", len(f.Cells), full, out)), width,
		float64(lines)*step + 3
}
