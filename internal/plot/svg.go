package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Figure is a picture that can be drawn.
type Figure interface {
	// At is the picture at another width, in pixels. Text keeps its size.
	At(width float64) Figure
	// draw writes the picture and returns what it shows in words, and its size.
	draw(c *canvas) (name string, width, height float64)
}

// SVG draws a picture as a file of its own, with its style and a background.
func SVG(f Figure) string {
	return render(f, true)
}

// Inline draws a picture to stand within a page that has the style sheet [CSS].
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

// canvas collects elements. Values of attributes are strings, escaped, or numbers,
// rounded to what the eye can tell apart.
type canvas struct {
	strings.Builder
}

func (c *canvas) raw(s string) { c.WriteString(s) }

func (c *canvas) open(name string, attributes ...any) {
	c.tag(name, attributes)
	c.raw(">\n")
}

func (c *canvas) close(name string) { c.raw("</" + name + ">\n") }

func (c *canvas) el(name string, attributes ...any) {
	c.tag(name, attributes)
	c.raw("/>\n")
}

func (c *canvas) tag(name string, attributes []any) {
	c.raw("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		value := ""
		switch v := attributes[i+1].(type) {
		case float64:
			value = num(v)
		case int:
			value = strconv.Itoa(v)
		case string:
			value = escape(v)
		default:
			panic(fmt.Sprintf("plot: attribute %v of type %T", attributes[i], v))
		}
		c.raw(fmt.Sprintf(` %s="%s"`, attributes[i], value))
	}
}

// text writes a line of text whose anchor is start, middle or end.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	attributes := []any{"x", x, "y", y}
	if class != "" {
		attributes = append(attributes, "class", class)
	}
	if anchor != "start" {
		attributes = append(attributes, "text-anchor", anchor)
	}
	c.tag("text", attributes)
	c.raw(">" + escape(s) + "</text>\n")
}

// title is what the pointer shows when it rests on the element around it.
func (c *canvas) title(s string) {
	c.raw("<title>" + escape(s) + "</title>\n")
}

// num writes a number with at most one digit after the point.
func num(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		panic(fmt.Sprintf("plot: %v is no place in a picture", v))
	}
	s := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if s == "-0" {
		return "0"
	}
	return s
}

// exact writes a number with all its digits, for data attributes.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// escape makes text safe in elements and attributes. Characters that XML forbids, and
// those that turn the direction of the text around them, become the replacement sign.
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f {
			return '\ufffd'
		}
		return r
	}, s)
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.String()
}
