package config

import (
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// shortWindow is the backfill_window below which hardly any job gets a planned start.
const shortWindow = time.Minute

// checkUnused warns of settings that have no effect under the other settings.
func (r *reader) checkUnused(root *node, c *Config) {
	if errors, _ := r.found.count(); errors > 0 {
		return
	}
	s := &c.Shares.Sched
	has := policies(&s.Root)
	keeps := s.Backfill == sched.EASY || s.Backfill == sched.Conservative
	for _, name := range []string{"backfill_depth", "backfill_window", "backfill_patience"} {
		if n := root.get(name); n != nil && n.kind != nothing && !keeps {
			r.warnf(root.key(name), "%s has no effect: %s keeps no room; easy and conservative do", name, s.Backfill)
		}
	}
	if n := root.get("backfill_window"); n != nil && keeps && s.Window > 0 && s.Window < shortWindow {
		r.warnf(n, "room is kept only for the few jobs that would start within %s: jobs that ask for"+
			" less can pass the others forever. Remove backfill_window, or set hours or days",
			units.FormatDuration(s.Window))
	}
	if n := root.get("backfill_patience"); n != nil && n.kind != nothing &&
		s.Backfill == sched.Conservative && onlyFIFO(has) {
		r.warnf(root.key("backfill_patience"),
			"backfill_patience has no effect: under fifo, conservative keeps its planned starts")
	}
	for _, x := range []struct{ name, policy string }{{"shortlist", "lottery"}, {"factor", "multifactor"},
		{"assoc_factor", "multifactor"}} {
		if !has[x.policy] {
			r.unread(root, "", x.name, "no pool has the policy "+x.policy)
		}
	}
	r.checkStops(root, &s.Root)
	r.checkCeilings(root, &s.Root, "", ceiling{})
}

// checkStops warns of settings about stopped tasks if nothing ever stops a task.
func (r *reader) checkStops(root *node, top *share.Pool) {
	byMin, byShare := top.Reclaim.MinAfter > 0, top.Reclaim.ShareAfter > 0
	balances := top.Options.Rebalance.Threshold > 0
	for _, p := range top.All() {
		byMin, byShare = byMin || p.Reclaim.MinAfter > 0, byShare || p.Reclaim.ShareAfter > 0
		balances = balances || p.Options.Rebalance.Threshold > 0
	}
	for _, x := range []struct {
		name, lacks string
		acts        bool
	}{
		{"below", "share_after", byShare},
		{"choose", "min_after or share_after", byMin || byShare},
		{"grace", "min_after, share_after or rebalance", byMin || byShare || balances},
		{"protect", "min_after, share_after or rebalance", byMin || byShare || balances},
	} {
		if !x.acts {
			r.unread(root, "reclaim", x.name, "no pool has "+x.lacks)
		}
	}
}

// unread warns of the first use of a setting, or of a setting in a section, that nothing reads.
func (r *reader) unread(n *node, section, name, why string) bool {
	of := n
	if section != "" {
		of = n.get(section)
	}
	if v := of.get(name); v != nil && v.kind != nothing {
		r.warnf(of.key(name), "%s has no effect: %s", name, why)
		return true
	}
	for _, e := range pairs(n.get("pools")) {
		if r.unread(e.value, section, name, why) {
			return true
		}
	}
	return false
}

// onlyFIFO reports whether fifo is the only policy in the set, so that all jobs go in order of arrival.
func onlyFIFO(has map[string]bool) bool {
	for name := range has {
		if name != "" && name != "fifo" {
			return false
		}
	}
	return true
}
