package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
)

// unevenBelow is Jain's index below which the report explains the index.
const unevenBelow = 0.9

// maxUneven limits how many indexes are explained, so that the table stays in view.
const maxUneven = 5

// uneven explains small indexes. Field span returns the numbers of the requested window.
type uneven struct {
	span func(*views.PoolView) views.FairnessSpan
}

// explain names, for each pool with a small index, the child pools that received the most and the least of
// their entitlement.
func (r uneven) explain(w io.Writer, doc *api.Shares) {
	told := 0
	for i := range doc.Pools {
		p := &doc.Pools[i]
		if r.span(p).Jain >= unevenBelow || told == maxUneven {
			continue
		}
		most, least := r.extremes(doc.Pools, i)
		if most == nil || most == least {
			continue
		}
		told++
		fmt.Fprintf(w, "Jain %.2f of %s: %s received %s of its entitlement, and %s %s\n", r.span(p).Jain, cmp.Or(p.Path, "/"),
			most.Path, percent(r.ratio(most)), least.Path, percent(r.ratio(least)))
	}
}

// extremes returns the child pools of a pool that received the most and the least of their entitlement.
func (r uneven) extremes(pools []views.PoolView, of int) (most, least *views.PoolView) {
	for k := of + 1; k < len(pools) && pools[k].Depth > pools[of].Depth; k++ {
		kid := &pools[k]
		if kid.Depth != pools[of].Depth+1 || r.span(kid).Ideal <= 0 {
			continue
		}
		if most == nil || r.ratio(kid) > r.ratio(most) {
			most = kid
		}
		if least == nil || r.ratio(kid) < r.ratio(least) {
			least = kid
		}
	}
	return most, least
}

// ratio returns the part of its entitlement that a pool received. Above 1, it also received parts of others.
func (r uneven) ratio(p *views.PoolView) float64 {
	return r.span(p).Received / r.span(p).Ideal
}
