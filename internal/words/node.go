package words

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/why"
)

// Used writes the used amount and the total of a resource.
func Used(n *views.NodeView, resource string) string {
	all, ok := n.Capacity[resource]
	if !ok || all == 0 {
		return "-"
	}
	if n.Endless(resource) {
		return Amount(resource, n.InUse(resource))
	}
	return Amount(resource, n.InUse(resource)) + "/" + Amount(resource, all)
}

// GPUs writes the GPUs in use: 1/4, with one type 1/4 a100, with several 3/6 (a100 2/4, h100 1/2).
func GPUs(n *views.NodeView) string {
	var kinds, parts []string
	for _, r := range slices.Sorted(maps.Keys(n.Capacity)) {
		if kind, typed := strings.CutPrefix(r, "gpu:"); typed && n.Capacity[r] > 0 {
			kinds, parts = append(kinds, kind), append(parts, kind+" "+Used(n, r))
		}
	}
	switch {
	case len(kinds) == 1 && n.Capacity["gpu:"+kinds[0]] == n.Capacity["gpu"]:
		return Used(n, "gpu") + " " + kinds[0]
	case len(kinds) > 0:
		return Used(n, "gpu") + " (" + strings.Join(parts, ", ") + ")"
	}
	return Used(n, "gpu")
}

// Labels writes the labels of a node, except for a label host that repeats its name.
func Labels(n *views.NodeView) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.Labels)) {
		if value := n.Labels[name]; name != "host" || value != n.Name {
			parts = append(parts, name+"="+value)
		}
	}
	return strings.Join(parts, " ")
}

// WhyNotMore explains why a node does not run more tasks, with its planned starts and reservations, and the
// other server that has it.
func WhyNotMore(n *views.NodeView, unit string, now time.Time) string {
	text := instant.ByClock(whyNotHere(n, unit, now), now)
	if n.Silent != nil {
		text = "its agent has no connection since " + Clock(*n.Silent, now) + "; " + text
	}
	if n.Server != "" {
		text += "; at server " + n.Server
	}
	return text
}

func whyNotHere(n *views.NodeView, unit string, now time.Time) string {
	notes := keptOn(n, unit, now)
	if n.State == "up" && notes != "" && n.Why == "" && n.Free[unit] == n.Capacity[unit] {
		return notes
	}
	text := whyNow(n, unit) + explain.HeldUpText(n.HoldsUp)
	if notes != "" {
		text += "; " + notes
	}
	return text
}

// keptOn lists the reservations and planned starts on a node, and the time for which it is free until then.
func keptOn(n *views.NodeView, unit string, now time.Time) string {
	var parts []string
	var next time.Time
	closed := n.State != "up"
	upTo := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, w := range n.Windows {
		switch begun := !w.From.After(now); {
		case begun && w.Maintenance: // the state of the node says so
		case begun:
			closed = true
			parts = append(parts, fmt.Sprintf("reserved until %s for %s", instant.Clock(w.To, now), w.Name))
		case w.Maintenance:
			parts = append(parts, fmt.Sprintf("maintenance %s in %s, until %s", w.Name, why.Until(w.From, now), instant.Clock(w.To, now)))
		default:
			parts = append(parts, fmt.Sprintf("reserved from %s for %s", instant.Clock(w.From, now), w.Name))
		}
		upTo(w.From)
	}
	if len(n.Kept) > 0 {
		parts = append(parts, fmt.Sprintf("kept from %s for job %d", n.Kept[0].Begins(now), n.Kept[0].Job))
		upTo(n.Kept[0].From)
	}
	if !closed && next.Sub(now) >= time.Second && n.Free[unit] > 0 {
		parts = append(parts, "free for tasks of up to "+why.Until(next, now))
	}
	return strings.Join(parts, "; ")
}

// whyNow explains why a node does not run more tasks at this moment.
func whyNow(n *views.NodeView, unit string) string {
	switch {
	case n.Why != "":
		return n.Why
	case n.State != "down" && n.Fault != nil:
		return fmt.Sprintf("it failed to start the last %s: %s", Tasks(int64(n.Fault.Tasks)), n.Fault.Last)
	case n.State == "down" && n.Labels[engine.BridgeLabel] != "":
		return "its bridge is not connected: start it with fairlead bridge " + n.Labels[engine.BridgeLabel] + "; if it is gone for good, the next start of the server forgets it"
	case n.State == "down":
		return "its agent is not connected"
	case n.Free[unit] == 0:
		return "all " + unit + " in use"
	case n.NoneWaits && n.Free[unit] == n.Capacity[unit]:
		return "idle: no task waits"
	case n.NoneWaits:
		return fmt.Sprintf("%d %s free: no task waits", n.Free[unit], unit)
	case n.Endless(unit):
		return "no limit: waiting tasks run elsewhere, or are held back"
	case n.Free[unit] < n.Capacity[unit]:
		return fmt.Sprintf("%d %s free: waiting tasks need more, or are held back", n.Free[unit], unit)
	}
	return "no waiting task can run here"
}
