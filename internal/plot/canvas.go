package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// margin is the empty space at the edges of a picture.
const margin = 12.0

// canvas collects elements. Values of attributes are escaped strings, or numbers rounded to a visible
// precision.
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

// title writes the tooltip of the element around it.
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

// escape makes text safe in elements and attributes. It replaces characters that XML forbids, and characters
// that change the direction of text, by the replacement character.
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f {
			return '\ufffd'
		}
		return r
	}, s)
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // cannot happen: a buffer accepts everything
	}
	return b.String()
}
