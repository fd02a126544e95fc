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
	nodes  map[string]ends.Count            // in the last hour
	users  map[string]map[string]ends.Count // in the last hour, by node
	parted bool                             // some attempts of this hour are left out
	before ends.Count                       // in the day before that
}

// ofUsers adds up the attempts of each user on all nodes.
func (f *failures) ofUsers() map[string]ends.Count {
	all := map[string]ends.Count{}
	for _, here := range f.users {
		for user, c := range here {
			sum := all[user]
			all[user] = ends.Count{Ended: sum.Ended + c.Ended, Failed: sum.Failed + c.Failed}
		}
	}
	return all
}

// checkFailures compares how many attempts failed in the last hour with the day before that. It leaves drained nodes
// out: they fail no more tasks.
func (s *examiner) checkFailures() api.HealthCheck {
	return judgeFailures(engine.Read(s.loop, func(st *engine.State) failures {
		now := time.Now()
		f := failures{before: st.Ends.DayBefore(now)}
		var whole bool
		f.nodes, f.users, whole = st.Ends.LastHour(now)
		f.parted = !whole
		for node := range f.nodes {
			if st.InForce.Drain(node) != nil {
				delete(f.nodes, node)
				delete(f.users, node)
				f.parted = true
			}
		}
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
			several(int(here.Ended), "attempt"), plain.Line(node), words.Percent(rest.Rate()))
		next := "read the output of a failed job; if the node is the cause: fairlead drain " + plain.Line(node) +
			" --reason WHY"
		return counted(bad("failures", api.ResultWarn, text, next), int(here.Failed), "attempts")
	}
	text := fmt.Sprintf("%d of %s failed in the last hour (%s)", all.Failed, several(int(all.Ended), "attempt"), usual)
	left := ""
	if f.parted {
		left = "; without nodes that are drained, and attempts before a node was resumed"
	}
	if !unusual(all, f.before) {
		return counted(good("failures", text+left), int(all.Failed), "attempts")
	}
	users := f.ofUsers()
	if user := slices.SortedFunc(maps.Keys(users), byFailures(users))[0]; users[user].Failed > all.Failed/2 {
		text += fmt.Sprintf(", %d of them of %s", users[user].Failed, plain.Line(user))
	}
	return counted(bad("failures", api.ResultWarn, text+left, "see the causes: fairlead history --causes"),
		int(all.Failed), "attempts")
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
