package server

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
)

// checkBridges checks whether all bridges that ever joined are present.
func (s *examiner) checkBridges(ctx context.Context, all []patient) []api.HealthCheck {
	keeper, ok := s.store.(queue.Settings)
	if !ok {
		return nil
	}
	kept, err := keeper.Settings(ctx)
	if err != nil {
		return []api.HealthCheck{bad("bridges", api.ResultFail, err.Error(), "see the server's log")}
	}
	nodes := map[string]patient{}
	for _, n := range all {
		nodes[n.Name] = n
	}
	var bridges []patient
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		name, ours := strings.CutPrefix(key, ledgerSetting)
		if !ours {
			continue
		}
		n, known := nodes[name]
		if !known { // absent since before the server started: it has no tasks
			n.NodeView = views.NodeView{Name: name, State: "down", Drained: drained(s.loop, name)}
		}
		bridges = append(bridges, n)
	}
	return judgeBridges(bridges, time.Now(), engine.Read(s.loop, explain.HeldUpIn))
}

// judgeBridges reports bridges that are away. It is a failure if a bridge has tasks in its queueing system, because
// nobody follows them. A bridge that was drained and has ended is away on purpose.
func judgeBridges(all []patient, now time.Time, held explain.HeldUp) []api.HealthCheck {
	var here, gone, idle, away []string
	lost := map[string]bool{}
	start, first := "", "" // the command for one that is away, and the first without tasks
	for _, n := range all {
		name := plain.Line(n.Name)
		down := name + " down"
		if n.lostConnection(now) {
			down = name + " without a connection since " + words.Clock(n.silent, now)
		}
		switch {
		case n.State != "down" && !n.lostConnection(now):
			here = append(here, name)
			continue
		case n.Drained && n.Tasks == 0:
			gone = append(gone, name)
			continue
		case n.Tasks == 0:
			idle, first = append(idle, down), cmp.Or(first, name)
		default:
			away = append(away, down)
		}
		lost[n.Name] = true
		if start == "" || n.Tasks > 0 {
			kind := "KIND"
			if k := n.Labels[engine.BridgeLabel]; k != "" {
				kind = plain.Line(k)
			}
			start = "fairlead bridge " + kind + " --name " + name
		}
	}
	start = "start it again with the same --dir and options: " + start + "; --check shows whether its queueing " +
		"system answers"
	waits := explain.HeldUpText(held.Jobs(func(node string) bool { return lost[node] }))
	switch {
	case len(all) == 0:
		return nil
	case len(away) > 0:
		return []api.HealthCheck{counted(bad("bridges", api.ResultFail, some(away)+": nobody follows its tasks in the other "+
			"queueing system, and its jobs wait"+waits, start), len(away), "bridges")}
	case len(idle) > 0:
		next := start + "; if it will not come back: fairlead drain --forget " + first
		found := bad("bridges", api.ResultWarn, some(idle)+", with no tasks"+waits, next)
		return []api.HealthCheck{counted(found, len(idle), "bridges")}
	}
	var parts []string
	if len(here) > 0 {
		parts = append(parts, some(here)+" connected")
	}
	if len(gone) > 0 {
		parts = append(parts, fmt.Sprintf("%s drained and down, with no tasks (to remove it: fairlead drain "+
			"--forget %s)", some(gone), gone[0]))
	}
	return []api.HealthCheck{counted(good("bridges", strings.Join(parts, "; ")), 0, "bridges")}
}
