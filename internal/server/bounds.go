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

// bounds limits the JSON of a request. The server counts while it reads the request, because a few bytes may take
// hundreds of times as much memory when decoded.
type bounds struct {
	depth   int // nesting of lists and objects
	members int // of one object
	items   int // of one list
	values  int // in all
}

// usual bounds most requests, submission bounds job submissions, and reports bounds reports of agents and bridges,
// which may cover all of their tasks.
var (
	usual      = bounds{depth: 100, members: 1000, items: 100_000, values: 200_000}
	submission = bounds{depth: 100, members: 2000, items: 10_000, values: 500_000}
	reports    = bounds{depth: 100, members: 5000, items: 1_000_000, values: 5_000_000}
)

// tooMuch is the error of a request that exceeds a bound.
type tooMuch struct {
	text  string
	parts bool // the request could be split
}

func (t tooMuch) Error() string { return t.text }

// tally counts the JSON that passes through it.
type tally struct {
	bounds
	open            []byte // the open brackets
	counts          []int  // of the commas in each of them
	values          int
	quoted, escaped bool
}

// count counts a part of a text, and returns an error if a bound is exceeded. It does not check whether the text is
// JSON.
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
				return tooMuch{fmt.Sprintf("nests lists and objects more than %d levels deep", c.depth), false}
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

// largeBody is the size in bytes from which a request is large: each user may have a few large ones at a time.
const largeBody = 1 << 20

// errLarge says that no more large requests are accepted.
var errLarge = busyError("too many large requests at once")

// busyError is a [queue.ErrBusy] with its own text.
type busyError string

// Error implements error.
func (e busyError) Error() string { return string(e) }

// Is makes errors.Is(err, queue.ErrBusy) true.
func (e busyError) Is(target error) bool { return target == queue.ErrBusy }

// anyContext is a huma.Context under a name that is not one of its methods, to embed it.
type anyContext = huma.Context

// withBody is a request whose body has been read.
type withBody struct {
	anyContext
	body io.Reader
}

// BodyReader implements huma.Context.
func (w withBody) BodyReader() io.Reader { return w.body }

// SetReadDeadline implements huma.Context and does nothing. huma sets a deadline for the body, although the body has
// already been read. The deadline would expire while the handler works, and would end every later request of the
// connection at its start.
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

// finite refuses NaN and infinities in addresses: they pass every minimum and maximum.
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
