package sched

import (
	"fmt"
	"iter"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// licenseGate holds jobs back while too few of a license are free. The sub-queues are noted at the [license]. If future
// room is planned, licenses are part of the room, and this gate is open.
type licenseGate struct {
	openKind
	h *gates
}

func (g *licenseGate) fork(h *gates) gateKind { return &licenseGate{h: h} }

func (g *licenseGate) holds(_ int32, at subRef) (pool int32, held bool) {
	key := g.h.queues.sub(at).key
	t := g.h.quotas.needsOf(key)
	if t == nil || g.h.site.backfills() {
		return -1, false
	}
	l := g.h.quotas.lackingLicense(t, g.h.site.atOnce(key))
	if l == nil {
		return -1, false
	}
	l.parked = append(l.parked, at)
	return -1, true
}

func (g *licenseGate) sleeps() bool { return len(g.h.quotas.needs) == 0 }

func (g *licenseGate) counted() {}

func (g *licenseGate) noted() iter.Seq[subRef] {
	return func(yield func(subRef) bool) {
		for i := range g.h.quotas.licenses {
			for _, at := range g.h.quotas.licenses[i].parked {
				if !yield(at) {
					return
				}
			}
		}
	}
}

func (g *licenseGate) restart() {
	for i := range g.h.quotas.licenses {
		g.h.quotas.licenses[i].parked = nil
	}
}

func (g *licenseGate) ended(_ int32, key cluster.Key) {
	t := g.h.quotas.needsOf(key)
	if t == nil {
		return
	}
	for _, need := range t.licenses {
		if l := &g.h.quotas.licenses[need.license]; l.free() > 0 {
			g.h.returning(&l.parked, byLicense)
		}
	}
}

func (g *licenseGate) ofKey(key cluster.Key) []why.Gate {
	t := g.h.quotas.needsOf(key)
	if t == nil {
		return nil
	}
	var gates []why.Gate
	tasks := g.h.site.atOnce(key)
	for _, need := range t.licenses {
		need.n *= tasks
		gates = append(gates, g.of(need))
	}
	return gates
}

func (g *licenseGate) of(need need) why.Gate {
	l := &g.h.quotas.licenses[need.license]
	out := why.Gate{
		Name: "license " + l.name, Where: "licenses", Open: l.used+need.n <= l.total,
		Used: fmt.Sprint(l.used), Limit: fmt.Sprint(l.total),
	}
	switch {
	case need.n > l.total:
		out.Code = why.LicenseNever
		out.Text = fmt.Sprintf("it asks for %d of the license %s, but the cluster has only %d", need.n, l.name, l.total)
		if _, configured := g.h.site.cfg.Licenses[l.name]; !configured {
			out.Text = fmt.Sprintf("the license %s is not configured any more", l.name)
		}
	case !out.Open:
		out.Code = why.GateLicense
		out.Text = fmt.Sprintf("license %s %d/%d used", l.name, l.used, l.total)
		if need.n > 1 {
			out.Text += fmt.Sprintf(", it asks for %d", need.n)
		}
	}
	return out
}
