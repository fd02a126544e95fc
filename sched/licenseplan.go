package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Licenses are part of the plan, as amounts that belong to no node. Without them, a task from further back could take a
// license that another task needs at its planned start, and the room kept for the other task would be useless.

// licenseTotals is the total of each license, by number.
func (c *quotas) licenseTotals() cluster.Vector {
	v := make(cluster.Vector, len(c.licenses))
	for i := range c.licenses {
		v[i] = c.licenses[i].total
	}
	return v
}

// licensesFree reports whether the licenses of a task with a key, or of a gang, are free.
func (c *quotas) licensesFree(key cluster.Key) bool {
	t := c.needsOf(key)
	return t == nil || c.lackingLicense(t, c.site.atOnce(key)) == nil
}

// licensesFrom is the first instant in [from, before) at which a task with a key, or a gang, could hold its
// licenses for a length of time.
func (f *reserve) licensesFrom(key cluster.Key, length, from, before int64) (int64, bool) {
	if !f.quotas.holdsLicense(key) {
		return from, true
	}
	return f.backfill.plan.EarliestCommon(f.quotas.licensesOf(key, f.site.atOnce(key)), length, from, before)
}

// licensesBehind reports whether a task with a key, or a gang, can hold its licenses from one instant until
// another.
func (f *reserve) licensesBehind(key cluster.Key, now, end int64) bool {
	at, found := f.licensesFrom(key, end-now, now, now+1)
	return found && at == now
}

// findPaid is find for a request whose licenses are free.
func (f *reserve) findPaid(key cluster.Key, limit time.Duration) (cluster.NodeID, bool) {
	if !f.quotas.licensesFree(key) {
		return 0, false
	}
	return f.find(key, limit)
}

// placeBehind finds a node that is free for the planned run time of a task, or the nodes for a gang. The task must
// not delay promised starts. If it has no time limit, no window may take its node.
func (f *reserve) placeBehind(key cluster.Key, length int64, limit time.Duration) (node cluster.NodeID, fits bool) {
	now := f.site.instantOf()
	end := now + length
	spares := func(id cluster.NodeID, tasks int) int {
		if tasks == 0 || limit > 0 && f.running.endless.of(id) == 0 {
			return tasks
		}
		if limit == 0 && f.site.cluster.Windows().Any() && !f.site.mayUse(f.alone(id), key, limit) {
			return 0
		}
		return beside{f}.spares(0, id, key, length, limit == 0, tasks)
	}
	if !f.licensesBehind(key, now, end) || !(beside{f}).sparesLicenses(0, key, length, limit == 0) {
		return 0, false
	}
	if f.site.gangOf(key) > 0 {
		holds := func(id cluster.NodeID) (int, bool) {
			return spares(id, f.backfill.plan.Holds(id, key, now, end)), !f.keptOn(id)
		}
		if f.hosts, fits = f.site.cluster.PlaceGang(key, holds, f.hosts[:0]); fits {
			node = f.hosts[0]
		}
		return node, fits
	}
	free := func(id cluster.NodeID) bool { return f.backfill.plan.Fits(id, key, now, end) && spares(id, 1) == 1 }
	if f.site.plans == plansFirst && !f.site.cluster.Windows().Any() {
		return cluster.KeptOf(f.site.cluster).Place(key, free) // tasks only end elsewhere: free room stays free
	}
	return f.site.cluster.PlaceOn(key, free)
}
