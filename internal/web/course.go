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
	Empty   bool // nothing is known of that time
}

// leastCourse is how much time a picture shows at least.
const leastCourse = 5 * time.Minute

// youngest is how far back a picture has to go to show all that is known of a day, in hours.
func youngest(doc *api.PoolHistory) int {
	if len(doc.Points) == 0 {
		return 24
	}
	age := doc.To.Sub(doc.Points[0].At).Hours()
	return courseHours[slices.IndexFunc(courseHours, func(h int) bool { return float64(h) >= age || h == 24 })]
}

// courseHours are how far back curves may go.
var courseHours = []int{1, 6, 24, 168, 720, 8760}

// courseOf draws how a pool fared; "" is all of them together.
func courseOf(ctx context.Context, src Source, pool string, r *Request) (c course) {
	hours, err := strconv.Atoi(r.Word("past"))
	chosen := err == nil && slices.Contains(courseHours, hours)
	if !chosen {
		hours = 24
	}
	doc, err := src.PoolHistory(ctx, pool, time.Now().Add(-time.Duration(hours)*time.Hour))
	if err == nil && !chosen { // as much as there is, so that a young server shows something
		if young := youngest(doc); young < hours {
			hours = young
			doc, err = src.PoolHistory(ctx, pool, time.Now().Add(-time.Duration(hours)*time.Hour))
		}
	}
	for _, h := range courseHours {
		c.Spans = append(c.Spans, sortLink{words.Span(time.Duration(h) * time.Hour), r.With("past", strconv.Itoa(h)), h == hours})
	}
	if err != nil {
		c.Problem = err.Error() // the rest of the page is there all the same
		return c
	}
	if len(doc.Points) == 0 {
		c.Empty = true
		return c
	}
	if first := doc.Points[0].At; !chosen && first.After(doc.From) {
		doc.From = earlier(first, doc.To.Add(-leastCourse))
	}
	x := curves.Curve{
		Name: cmp.Or(pool, "all pools"), Unit: doc.Unit, From: doc.From, To: doc.To, Step: words.Seconds(doc.StepSeconds), Points: doc.Points, Width: 600, Zone: time.Local,
	}
	if pool == "" { // its share is all, always
		c.Figures = []plot.Figure{x.Due(), x.Demand(), x.Wait()}
		return c
	}
	c.Figures = x.All()
	return c
}
