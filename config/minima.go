package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/share"
)

// checkMinima compares the sum of the minima of the pools below p with the maximum and the minimum of p.
func (r *reader) checkMinima(n *node, p *share.Pool) {
	sum := below(p)
	for _, resource := range slices.Sorted(maps.Keys(sum)) {
		total := showAmount(sum[resource]).text
		most, limited := p.Max[resource]
		least, guaranteed := p.Min[resource]
		switch {
		case limited && sum[resource] > most:
			r.errorf(cmp.Or(n.get("max").get(resource), n.get("max_running"), n),
				"the minima below %s add up to %s %s, more than its max of %s",
				clip(r.path), total, resource, showAmount(most).text)
		case guaranteed && sum[resource] > least:
			r.warnf(cmp.Or(n.get("min").get(resource), n), "the minima below %s add up to %s %s, more than its min of %s,"+
				" so its guarantee is %[2]s", clip(r.path), total, resource, showAmount(least).text)
		}
	}
}

// below adds up the minima of the children of p.
func below(p *share.Pool) map[string]int64 {
	sum := map[string]int64{}
	for i := range p.Pools {
		for resource, least := range guaranteed(&p.Pools[i]) {
			sum[resource] = min(sum[resource]+least, 1<<61) // bounded, so that large amounts do not overflow
		}
	}
	return sum
}

// guaranteed returns a pool's own minimum, or the sum of its children's minima if that is larger.
func guaranteed(p *share.Pool) map[string]int64 {
	all := below(p)
	for resource, least := range p.Min {
		all[resource] = max(all[resource], least)
	}
	return all
}
