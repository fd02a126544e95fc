package server

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/queue"
)

// bounds limit what the JSON of a request holds. It is counted while the request is read, as what a few
// bytes stand for may take hundreds of times as much when it is decoded.
type bounds struct {
	depth   int // lists and objects inside one another
	members int // of one object
	items   int // of one list
	values  int // in all
}

// usual bounds most requests, submission that of submitted jobs, and reports that of what
// agents and bridges tell, which may be of all tasks that they have.
var (
	usual      = bounds{depth: 100, members: 1000, items: 100_000, values: 200_000}
	submission = bounds{depth: 100, members: 2000, items: 10_000, values: 500_000}
	reports    = bounds{depth: 100, members: 5000, items: 1_000_000, values: 5_000_000}
)

// tooMuch says of what a request holds too much.
type tooMuch struct {
	text  string
	parts bool // it could be sent in several
}

func (t tooMuch) Error() string { return t.text }

// tally counts what passes.
type tally struct {
	bounds
	open            []byte // the brackets that are not closed
	counts          []int  // of the commas in each of them
	values          int
	quoted, escaped bool
}

// count looks at a part of a text, and says in what it holds too much. Whether it is JSON is another
// matter.
func (c *tally) count(text []byte) error {
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case c.escaped:
			c.escaped = false
		case c.quoted:
			n := bytes.IndexAny(text[i:], `"\`)
			if n < 0 {
				return nil
			}
			i += n
			c.escaped, c.quoted = text[i] == '\\', text[i] != '"'
		case b == '"':
			c.quoted = true
		case b == '{' || b == '[':
			c.open, c.counts = append(c.open, b), append(c.counts, 0)
			if c.values++; len(c.open) > c.depth {
				return tooMuch{fmt.Sprintf("has more than %d lists and objects inside one another", c.depth), false}
			}
		case b == '}' || b == ']':
			if n := len(c.open); n > 0 {
				c.open, c.counts = c.open[:n-1], c.counts[:n-1]
			}
		case b == ',':
			if err := c.comma(); err != nil {
				return err
			}
		}
	}
	return nil
}

// comma counts one more value in the innermost bracket.
func (c *tally) comma() error {
	if c.values++; c.values > c.bounds.values {
		return tooMuch{fmt.Sprintf("holds more than %d values", c.bounds.values), true}
	}
	n := len(c.open) - 1
	if n < 0 {
		return nil
	}
	c.counts[n]++
	switch {
	case c.open[n] == '{' && c.counts[n] >= c.members:
		return tooMuch{fmt.Sprintf("has an object with more than %d fields", c.members), false}
	case c.open[n] == '[' && c.counts[n] >= c.items:
		return tooMuch{fmt.Sprintf("has a list with more than %d items", c.items), true}
	}
	return nil
}

// largeBody is from how many bytes on a request is large: of these each user may have a few at a
// time.
const largeBody = 1 << 20

// errLarge is returned when no more large requests are taken.
var errLarge = busyError("too many large requests at once")

// busyError is a [queue.ErrBusy] in other words.
type busyError string

// Error implements error.
func (e busyError) Error() string { return string(e) }

// Is makes errors.Is(err, queue.ErrBusy) true.
func (e busyError) Is(target error) bool { return target == queue.ErrBusy }

// anyContext is a request with a name that is none of its methods.
type anyContext = huma.Context

// withBody is a request whose body has been read.
type withBody struct {
	anyContext
	body io.Reader
}

// BodyReader implements huma.Context.
func (w withBody) BodyReader() io.Reader { return w.body }

// SetReadDeadline implements huma.Context. huma sets a deadline for the body, which is here already: it
// would run out while the handler works, and end every later request of the connection as it begins.
func (w withBody) SetReadDeadline(time.Time) error { return nil }

// boundsOf returns the bounds of the requests of an operation.
func boundsOf(op *huma.Operation) bounds {
	switch {
	case op.OperationID == "submit":
		return submission
	case strings.HasPrefix(op.Path, "/v1/agents/"):
		return reports
	}
	return usual
}

// finite refuses numbers in addresses that are none: they pass every minimum and maximum.
func finite(a huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		for _, p := range ctx.Operation().Parameters {
			if p.In != "query" || p.Schema == nil || p.Schema.Type != huma.TypeNumber {
				continue
			}
			text := ctx.Query(p.Name)
			if v, err := strconv.ParseFloat(text, 64); err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
				huma.WriteErr(a, ctx, http.StatusUnprocessableEntity, fmt.Sprintf("%s: %.20q is not a number", p.Name, text))
				return
			}
		}
		next(ctx)
	}
}
