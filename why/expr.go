package why

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// node is a parsed expression: numbers, names of terms, + - * / ^, min, max and
// parentheses, with the usual precedence.
type node interface {
	eval(values []float64) float64
}

type (
	number float64
	name   int // index into the values
	call   struct {
		op   byte // one of + - * / ^ m (min) M (max)
		a, b node
	}
)

func (n number) eval([]float64) float64  { return float64(n) }
func (n name) eval(vs []float64) float64 { return vs[n] }

// eval rounds after each operation. The conversion keeps the compiler from fusing a multiplication and
// an addition, on machines that can.
func (c call) eval(vs []float64) float64 {
	a, b := c.a.eval(vs), c.b.eval(vs)
	switch c.op {
	case '+':
		return float64(a + b)
	case '-':
		return float64(a - b)
	case '*':
		return float64(a * b)
	case '/':
		if b == 0 {
			return math.Inf(1) // also 0 / 0: a pool without entitlement goes last
		}
		return float64(a / b)
	case '^':
		return math.Pow(a, b)
	case 'm':
		return math.Min(a, b)
	default:
		return math.Max(a, b)
	}
}

type parser struct {
	text  string
	names []string
	pos   int
}

// ParseFormula parses a formula's text over the named terms, for a program that read both from a printed
// answer.
func ParseFormula(text string, names []string) (func(values []float64) float64, error) {
	n, err := parse(text, names)
	if err != nil {
		return nil, err
	}
	return n.eval, nil
}

// maxExpr limits the length of the text, and so the depth of the recursion below.
const maxExpr = 1 << 10

func parse(text string, names []string) (node, error) {
	if len(text) > maxExpr {
		return nil, fmt.Errorf("formula is longer than %d characters", maxExpr)
	}
	p := &parser{text: text, names: names}
	n, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.peek() != 0 {
		return nil, p.fail("unexpected %q", p.text[p.pos:])
	}
	return n, nil
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("%q at %d: %s", p.text, p.pos, fmt.Sprintf(format, args...))
}

// peek skips spaces and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for p.pos < len(p.text) && p.text[p.pos] == ' ' {
		p.pos++
	}
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *parser) sum() (node, error)     { return p.chain("+-", p.product) }
func (p *parser) product() (node, error) { return p.chain("*/", p.power) }

// chain reads operands of the next higher precedence, joined from left to right.
func (p *parser) chain(ops string, operand func() (node, error)) (node, error) {
	n, err := operand()
	for err == nil && p.peek() != 0 && strings.IndexByte(ops, p.peek()) >= 0 {
		op := p.text[p.pos]
		p.pos++
		var m node
		if m, err = operand(); err == nil {
			n = call{op, n, m}
		}
	}
	return n, err
}

// power binds to the right: a^b^c is a^(b^c).
func (p *parser) power() (node, error) {
	n, err := p.atom()
	if err != nil || p.peek() != '^' {
		return n, err
	}
	p.pos++
	m, err := p.power()
	return call{'^', n, m}, err
}

func (p *parser) atom() (node, error) {
	switch c := p.peek(); {
	case c == '(':
		p.pos++
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		return n, p.expect(')')
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	case c == '_' || c >= 'a' && c <= 'z':
		return p.word()
	default:
		return nil, p.fail("a number, a name or a parenthesis is missing")
	}
}

func (p *parser) expect(c byte) error {
	if p.peek() != c {
		return p.fail("%q is missing", string(c))
	}
	p.pos++
	return nil
}

func (p *parser) number() (node, error) {
	v, err := strconv.ParseFloat(p.take("0123456789."), 64)
	if err != nil {
		return nil, p.fail("not a number")
	}
	return number(v), nil
}

func (p *parser) word() (node, error) {
	w := p.take("abcdefghijklmnopqrstuvwxyz_0123456789")
	if w == "min" || w == "max" {
		return p.pair(map[string]byte{"min": 'm', "max": 'M'}[w])
	}
	for i, n := range p.names {
		if n == w {
			return name(i), nil
		}
	}
	return nil, p.fail("%q is not one of the terms %v", w, p.names)
}

// pair reads "(a, b)" after min or max.
func (p *parser) pair(op byte) (node, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	a, err := p.sum()
	if err != nil {
		return nil, err
	}
	if err := p.expect(','); err != nil {
		return nil, err
	}
	b, err := p.sum()
	if err != nil {
		return nil, err
	}
	return call{op, a, b}, p.expect(')')
}

func (p *parser) take(set string) string {
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte(set, p.text[p.pos]) >= 0 {
		p.pos++
	}
	return p.text[start:p.pos]
}
