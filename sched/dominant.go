package sched

import "github.com/fairlead/fairlead/cluster"

// reorder sorts the children again after the totals of the cluster changed.
func (ord *orders) reorder(in *inner) {
	if in.held == nil || in.held.serial == ord.tariff.totalled {
		return
	}
	in.held.totals, in.held.serial = ord.tariff.totals, ord.tariff.totalled
	in.keys.clear()
	for _, kid := range in.kids {
		if ord.tree.pools[kid].seat.in {
			ord.putKey(in, kid)
		}
	}
}

// holdTask adds a running task to the holdings of its pools, from a leaf pool up, or removes it.
func (ord *orders) holdTask(id int32, key cluster.Key, sign int64) {
	if !ord.holds {
		return
	}
	request := ord.site.cluster.Request(key)
	for ; id > 0; id = ord.tree.pools[id].parent {
		if h := ord.tree.parentOf(id).held; h != nil {
			kid := int(ord.tree.pools[id].seat.kid)
			h.add(kid, request, sign)
			if sign > 0 {
				h.turn(kid, ord.tree.pools[id].Weight)
			}
		}
	}
}

// countHoldings recomputes the holdings of pools from scratch; their turns stay.
func (g *running) countHoldings() {
	g.orders.holds = false
	for i := range g.tree.inners {
		if h := g.tree.inners[i].held; h != nil {
			g.orders.holds = true
			clear(h.rows)
			h.totals, h.serial = g.tariff.totals, g.tariff.totalled
		}
	}
	if !g.orders.holds {
		return
	}
	for i := range g.runs {
		r := &g.runs[i]
		if !r.used {
			continue
		}
		for id := r.pool; id > 0; id = g.tree.pools[id].parent {
			if h := g.tree.parentOf(id).held; h != nil {
				h.add(int(g.tree.pools[id].seat.kid), g.site.cluster.Request(r.key), +1)
			}
		}
	}
}
