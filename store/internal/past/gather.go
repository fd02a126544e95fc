package past

import (
	"github.com/fairlead/fairlead/queue"
)

// Gather builds the answer to a query from blocks in the order of time.
type Gather struct {
	Query queue.HistoryQuery
	pools map[string]*queue.PoolHistory
}

// Block adds a block.
func (g *Gather) Block(k Key, data []byte) error {
	return read(data, k, g.Query, func(s queue.HistoryStep) {
		if g.pools == nil {
			g.pools = map[string]*queue.PoolHistory{}
		}
		p := g.pools[k.Pool]
		if p == nil {
			p = &queue.PoolHistory{Pool: k.Pool, Level: k.Level}
			g.pools[k.Pool] = p
		}
		p.Steps = append(p.Steps, s)
	})
}

// History returns the gathered steps, in the order of the pools in the query.
func (g *Gather) History() (out []queue.PoolHistory) {
	for _, name := range g.Query.Pools {
		if p := g.pools[name]; p != nil {
			out = append(out, *p)
			delete(g.pools, name)
		}
	}
	return out
}
