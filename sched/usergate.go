package sched

import (
	"fmt"
	"iter"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// userGate holds jobs back while their user has as many running tasks as one user may, in all pools together. The
// sub-queues are noted at the [userTasks]. Only requests that name their user are limited.
type userGate struct {
	openKind
	h *gates
}

// gateUser is the code of a job whose user has reached the maximum of running tasks per user.
const gateUser why.Code = "gate.user_running"

func (g *userGate) fork(h *gates) gateKind { return &userGate{h: h} }

func (g *userGate) holds(_ int32, at subRef) (pool int32, held bool) {
	key := g.h.queues.sub(at).key
	u := g.h.quotas.userOfKey(key)
	if u == nil || u.used+g.h.site.atOnce(key) <= g.maximum() {
		return -1, false
	}
	u.parked = append(u.parked, at)
	return -1, true
}

func (g *userGate) maximum() int64 { return int64(g.h.site.cfg.UserRunning) }

func (g *userGate) sleeps() bool { return len(g.h.quotas.users) == 0 || g.maximum() == 0 }

func (g *userGate) counted() {}

func (g *userGate) noted() iter.Seq[subRef] {
	return func(yield func(subRef) bool) {
		for i := range g.h.quotas.users {
			for _, at := range g.h.quotas.users[i].parked {
				if !yield(at) {
					return
				}
			}
		}
	}
}

func (g *userGate) restart() {
	for i := range g.h.quotas.users {
		g.h.quotas.users[i].parked = nil
	}
}

func (g *userGate) ended(_ int32, key cluster.Key) {
	if u := g.h.quotas.userOfKey(key); u != nil && u.used < g.maximum() {
		g.h.returning(&u.parked, byUser)
	}
}

func (g *userGate) ofKey(key cluster.Key) []why.Gate {
	u := g.h.quotas.userOfKey(key)
	if u == nil || g.maximum() == 0 {
		return nil
	}
	n, most := g.h.site.atOnce(key), g.maximum()
	out := why.Gate{
		Name: u.of, Where: "users", Open: u.used+n <= most, Used: fmt.Sprint(u.used), Limit: fmt.Sprint(most),
	}
	switch {
	case n > most:
		out.Code = why.GateNever
		out.Text = fmt.Sprintf("its %d tasks start all at once, and a user may run %d (user_limits.running)", n, most)
	case !out.Open:
		out.Code = gateUser
		out.Text = fmt.Sprintf("%s runs %d of at most %d tasks (user_limits.running)", u.name, u.used, most)
	}
	return []why.Gate{out}
}
