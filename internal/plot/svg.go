package plot

import "fmt"

// Figure is a picture that can be drawn.
type Figure interface {
	// At returns the picture at another width, in pixels. Text keeps its size.
	At(width float64) Figure
	// draw writes the picture and returns a description of it, and its size.
	draw(c *canvas) (name string, width, height float64)
}

// SVG draws a picture as a file of its own, with its style and a background.
func SVG(f Figure) string {
	return render(f, true)
}

// Inline draws a picture for a page that has the style sheet [CSS].
func Inline(f Figure) string {
	return render(f, false)
}

func render(f Figure, alone bool) string {
	var body, c canvas
	name, w, h := f.draw(&body)
	c.open("svg", "xmlns", "http://www.w3.org/2000/svg", "class", "fl-plot", "role", "img", "aria-label", name,
		"viewBox", fmt.Sprintf("0 0 %s %s", num(w), num(h)), "width", w, "height", h)
	if alone {
		c.raw("<style>" + CSS + "</style>\n")
		c.el("rect", "class", "fl-back", "width", w, "height", h)
	}
	c.raw(body.String())
	c.close("svg")
	return c.String()
}
