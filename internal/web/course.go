package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/curves"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/words"
)

// courseSource is what curves need.
type courseSource interface {
	// PoolHistory is how a pool fared since an instant.
	PoolHistory(ctx context.Context, pool string, since time.Time) (*api.PoolHistory, error)
}

// course is how a pool fared, as pictures.
type course struct {
	Spans   []sortLink
	Figures []plot.Figure
	Problem string
}

// courseHours are how far back curves may go.
var courseHours = []int{1, 6, 24, 168, 720, 8760}

// courseOf draws how a pool fared; "" is all of them together.
func courseOf(ctx context.Context, src Source, pool string, r *Request) (c course) {
	hours, err := strconv.Atoi(r.Word("past"))
	if err != nil || !slices.Contains(courseHours, hours) {
		hours = 24
	}
	for _, h := range courseHours {
		c.Spans = append(c.Spans, sortLink{words.Span(time.Duration(h) * time.Hour), r.With("past", strconv.Itoa(h)), h == hours})
	}
	doc, err := src.PoolHistory(ctx, pool, time.Now().Add(-time.Duration(hours)*time.Hour))
	if err != nil {
		c.Problem = err.Error() // the rest of the page is there all the same
		return c
	}
	x := curves.Curve{
		Name: cmp.Or(pool, "all pools"), Unit: doc.Unit, From: doc.From, To: doc.To, Step: words.Seconds(doc.StepSeconds), Points: doc.Points, Width: 600, Zone: time.Local,
	}
	c.Figures = x.All()
	return c
}
