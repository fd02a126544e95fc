package past

import (
	"cmp"

	"github.com/fairlead/fairlead"
)

func compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Block, b.Block), cmp.Compare(a.Pool, b.Pool))
}

// Gather makes the answer to a query of blocks that come in the order of time.
type Gather struct {
	Query fairlead.HistoryQuery
	pools map[string]*fairlead.PoolHistory
}

// Block adds a block.
func (g *Gather) Block(k Key, data []byte) error {
	return Read(data, k, g.Query, func(s fairlead.HistoryStep) {
		if g.pools == nil {
			g.pools = map[string]*fairlead.PoolHistory{}
		}
		p := g.pools[k.Pool]
		if p == nil {
			p = &fairlead.PoolHistory{Pool: k.Pool, Level: k.Level}
			g.pools[k.Pool] = p
		}
		p.Steps = append(p.Steps, s)
	})
}

// History is what was gathered, in the order of the pools in the query.
func (g *Gather) History() (out []fairlead.PoolHistory) {
	for _, name := range g.Query.Pools {
		if p := g.pools[name]; p != nil {
			out = append(out, *p)
			delete(g.pools, name)
		}
	}
	return out
}
