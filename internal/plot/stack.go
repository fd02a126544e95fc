package plot

import "strings"

// Stack is several pictures below each other, as one.
type Stack []Figure

func (f Stack) draw(c *canvas) (string, float64, float64) {
	var names []string
	var width, height float64
	for _, part := range f {
		c.open("g", "transform", "translate(0 "+num(height)+")")
		name, w, h := part.draw(c)
		c.close("g")
		names, width, height = append(names, name), max(width, w), height+h
	}
	return strings.Join(names, ". "), width, height
}
