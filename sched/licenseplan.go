package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Licenses are part of the plan, as something that all nodes have in common: room that is kept
// for a task is of no use to it if a task behind it has its licence by then.

// licenseTotals is how much there is of each licence, by number.
func (c *quotas) licenseTotals() cluster.Vector {
	v := make(cluster.Vector, len(c.licenses))
	for i := range c.licenses {
		v[i] = c.licenses[i].total
	}
	return v
}

// licensesFree reports whether the licences are free that a task with a key, or a gang, asks
// for.
func (c *quotas) licensesFree(key cluster.Key) bool {
	t := c.needsOf(key)
	return t == nil || c.lackingLicense(t, c.site.atOnce(key)) == nil
}

// licensesFrom is the first instant from from on at which a task with a key, or a gang, could
// hold its licences for length.
func (f *reserve) licensesFrom(key cluster.Key, length, from, before int64) (int64, bool) {
	if !f.quotas.holdsLicense(key) {
		return from, true
	}
	return f.backfill.plan.EarliestCommon(f.quotas.licensesOf(key, f.site.atOnce(key)), length, from, before)
}

// licensesBehind reports whether a task with a key, or a gang, can hold its licences from now
// on up to an instant.
func (f *reserve) licensesBehind(key cluster.Key, now, end int64) bool {
	at, found := f.licensesFrom(key, end-now, now, now+1)
	return found && at == now
}

// findPaid is find for what its licences are free for.
func (f *reserve) findPaid(key cluster.Key, limit time.Duration) (cluster.NodeID, bool) {
	if !f.quotas.licensesFree(key) {
		return 0, false
	}
	return f.find(key, limit)
}

// placeBehind finds a node that is free for as long as a task is planned to run, or those for a gang.
func (f *reserve) placeBehind(key cluster.Key, length int64) (node cluster.NodeID, fits bool) {
	now := f.site.instantOf()
	end := now + length
	if !f.licensesBehind(key, now, end) {
		return 0, false
	}
	if f.site.gangOf(key) > 0 {
		holds := func(id cluster.NodeID) (int, bool) {
			return f.backfill.plan.Holds(id, key, now, end), !f.keptOn(id)
		}
		if f.hosts, fits = f.site.cluster.PlaceGang(key, holds, f.hosts[:0]); fits {
			node = f.hosts[0]
		}
		return node, fits
	}
	free := func(id cluster.NodeID) bool { return f.backfill.plan.Fits(id, key, now, end) }
	if f.site.cfg.Placement == EASY && !f.site.cluster.Windows().Any() {
		return cluster.KeptOf(f.site.cluster).Place(key, free) // tasks only end elsewhere: free room stays free
	}
	return f.site.cluster.PlaceOn(key, free)
}
