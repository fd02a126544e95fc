package plot

import "strings"

// entry is one line of a legend: a sign drawn by the caller, and a name.
type entry struct {
	name string
	sign func(c *canvas, x, y float64) // within 26 pixels from x on, vertically around y
}

const (
	signWidth = 26.0
	rowHeight = 20.0
)

// head draws title, note and legend from the top, and returns the top of the rest.
func head(c *canvas, title, note string, legend []entry, width float64) float64 {
	y := 6.0
	for _, line := range wrap(title, large*bold, width-2*margin) {
		y += 18
		c.text(margin, y, "fl-title", "start", line)
	}
	if title != "" {
		y += 4
	}
	for _, line := range wrap(note, small, width-2*margin) {
		y += 14
		c.text(margin, y, "fl-dim", "start", line)
		y += 2
	}
	if len(legend) == 0 {
		return y + 4
	}
	y += 14
	x := margin
	for _, e := range legend {
		name := cut(e.name, middle, width-2*margin-signWidth-6)
		w := signWidth + 6 + textWidth(name, middle)
		if x > margin && x+w > width-margin {
			x, y = margin, y+rowHeight
		}
		e.sign(c, x, y)
		c.text(x+signWidth+6, y+4.5, "fl-key", "start", name)
		x += w + 18
	}
	return y + 14
}

// wrap breaks a text between words into lines of a width.
func wrap(s string, size, width float64) []string {
	var lines []string
	for _, word := range strings.Fields(s) {
		if n := len(lines) - 1; n >= 0 && textWidth(lines[n]+" "+word, size) <= width {
			lines[n] += " " + word
			continue
		}
		lines = append(lines, cut(word, size, width))
	}
	return lines
}
