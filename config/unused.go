package config

import (
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
)

// shortWindow is the backfill_window below which room is kept for hardly any job.
const shortWindow = time.Minute

// checkUnused warns of settings that nothing reads under the other settings.
func (r *reader) checkUnused(root *node, c *Config) {
	if errors, _ := r.found.count(); errors > 0 {
		return
	}
	s := &c.Shares.Sched
	has := policies(&s.Root)
	keeps := s.Placement == sched.EASY || s.Placement == sched.Conservative
	for _, name := range []string{"backfill_depth", "backfill_window", "backfill_patience"} {
		if n := root.get(name); n != nil && n.kind != nothing && !keeps {
			r.warnf(root.key(name), "%s has no effect: %s keeps no room; easy and conservative do", name, s.Placement)
		}
	}
	if n := root.get("backfill_window"); n != nil && keeps && s.Window > 0 && s.Window < shortWindow {
		r.warnf(n, "room is kept only for jobs that would start within %s, which are hardly any: jobs that ask for"+
			" less can pass the others for ever. Leave backfill_window out, or say hours or days",
			units.FormatDuration(s.Window))
	}
	if n := root.get("backfill_patience"); n != nil && n.kind != nothing &&
		s.Placement == sched.Conservative && onlyFIFO(has) {
		r.warnf(root.key("backfill_patience"),
			"backfill_patience has no effect: under fifo conservative keeps the starts that it has planned")
	}
	for _, x := range []struct{ name, policy string }{{"shortlist", "lottery"}, {"factor", "multifactor"},
		{"assoc_factor", "multifactor"}} {
		if !has[x.policy] {
			r.nobodyReads(root, x.name, x.policy)
		}
	}
}

// nobodyReads warns of the first place of a setting that is for a policy which no pool has.
func (r *reader) nobodyReads(n *node, name, policy string) bool {
	if v := n.get(name); v != nil && v.kind != nothing {
		r.warnf(n.key(name), "%s has no effect: no pool has the policy %s", name, policy)
		return true
	}
	for _, e := range pairs(n.get("pools")) {
		if r.nobodyReads(e.value, name, policy) {
			return true
		}
	}
	return false
}

// onlyFIFO reports whether jobs go in order of arrival in all pools, by the policies of a tree.
func onlyFIFO(has map[string]bool) bool {
	for name := range has {
		if name != "" && name != "fifo" {
			return false
		}
	}
	return true
}
