package plot

import "strings"

// Stack shows several pictures below each other, as one.
type Stack []Figure

// At implements [Figure].
func (f Stack) At(width float64) Figure {
	out := make(Stack, len(f))
	for i, part := range f {
		out[i] = part.At(width)
	}
	return out
}

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
