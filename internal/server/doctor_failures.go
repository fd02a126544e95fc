package server

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/words"
)

// When doctor warns of failures: at least failMany attempts ended in the last hour, failHalf of them failed, and
// failMore more than usual.
const (
	failMany = 20
	failHalf = 0.5
	failMore = 0.25
)

// failures are the ends of attempts that a server has seen.
type failures struct {
	nodes, users map[string]ends.Count // in the last hour
	before       ends.Count            // in the day before that
}

// checkFailures compares how many attempts failed in the last hour with the day before that. It leaves drained nodes
// out: they fail no more tasks.
func (s *examiner) checkFailures() api.HealthCheck {
	return judgeFailures(engine.Read(s.loop, func(st *engine.State) failures {
		now := time.Now()
		f := failures{before: st.Ends.DayBefore(now)}
		f.nodes, f.users = st.Ends.LastHour(now)
		maps.DeleteFunc(f.nodes, func(node string, _ ends.Count) bool { return st.InForce.Drain(node) != nil })
		return f
	}))
}

// judgeFailures warns if unusually many attempts failed in the last hour: first on one node, where the others do
// better, then anywhere.
func judgeFailures(f failures) api.HealthCheck {
	all := ends.Sum(f.nodes)
	usual := "the usual rate is not known yet"
	if f.before.Ended >= failMany {
		usual = "usually " + words.Percent(f.before.Rate())
	}
	for _, node := range slices.SortedFunc(maps.Keys(f.nodes), byFailures(f.nodes)) {
		here := f.nodes[node]
		rest := all.Minus(here)
		if !unusual(here, rest) || rest.Ended == 0 {
			continue
		}
		text := fmt.Sprintf("%d of %s failed on %s in the last hour; on the other nodes %s failed", here.Failed,
			several(int(here.Ended), "task"), plain.Line(node), words.Percent(rest.Rate()))
		next := "read the output of a failed job; if the node is the cause: fairlead drain " + plain.Line(node) +
			" --reason WHY"
		return counted(bad("failures", api.ResultWarn, text, next), int(here.Failed), "tasks")
	}
	text := fmt.Sprintf("%d of %s failed in the last hour (%s)", all.Failed, several(int(all.Ended), "task"), usual)
	if !unusual(all, f.before) {
		return counted(good("failures", text), int(all.Failed), "tasks")
	}
	if user := slices.SortedFunc(maps.Keys(f.users), byFailures(f.users))[0]; f.users[user].Failed > all.Failed/2 {
		text += fmt.Sprintf(", %d of them of %s", f.users[user].Failed, plain.Line(user))
	}
	return counted(bad("failures", api.ResultWarn, text, "see the causes: fairlead history --causes"),
		int(all.Failed), "tasks")
}

// unusual reports whether an administrator should look at the failed attempts.
func unusual(c, usual ends.Count) bool {
	return c.Ended >= failMany && c.Rate() >= failHalf && c.Rate() >= usual.Rate()+failMore
}

// byFailures orders names by their failed attempts, the most first.
func byFailures(of map[string]ends.Count) func(a, b string) int {
	return func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b].Failed, of[a].Failed), cmp.Compare(a, b))
	}
}
