//go:build campaign

package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// ghost sends late reports in the name of healthy agents, like a packet that was long on its way or an agent that
// slept: it reports ends of attempts that are over, and renews such attempts. The server has to refuse each report. The
// witness sees these answers, too.
type ghost struct {
	fleet   *fleet
	rng     *rand.Rand
	clients []*api.Client // they connect through the wires
}

func newGhost(f *fleet, seed uint64) *ghost {
	g := &ghost{fleet: f, rng: rand.New(rand.NewPCG(seed, 99))}
	for _, r := range f.sites {
		g.clients = append(g.clients, dial(f.t, r.wire.socket))
	}
	return g
}

// run sends late reports until "stopped" returns true.
func (g *ghost) run(stopped func() bool) {
	for !stopped() {
		g.haunt()
		time.Sleep(time.Duration(g.rng.IntN(100)) * time.Millisecond)
	}
}

func (g *ghost) haunt() {
	site := g.rng.IntN(len(g.clients))
	name := agentName(site, g.rng.IntN(len(processors)))
	session, refs := g.fleet.seen.over(name, g.rng)
	if session == "" || len(refs) == 0 || g.fleet.isHurt(name) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	report := api.ReportRequest{Session: session}
	for _, ref := range refs {
		if g.rng.IntN(3) == 0 {
			report.Renew = append(report.Renew, ref)
		} else {
			report.Finished = append(report.Finished, api.Finished{Ref: ref, State: string(queue.Succeeded)})
		}
	}
	g.clients[site].Report(ctx, name, report) // the wire sees the answer, if there is one
}

// over returns the session of an agent and some attempts that are over, mostly the latest ones.
func (w *witness) over(agent string, rng *rand.Rand) (session string, refs []queue.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range 3 {
		if len(w.refs) == 0 {
			break
		}
		late := w.refs[len(w.refs)-1-rng.IntN(len(w.refs))*rng.IntN(8)/8]
		a := w.task(late)
		if _, ended := a.accepted[late.Attempt]; (ended || a.newest > late.Attempt) && !slices.Contains(refs, late) {
			refs = append(refs, late)
		}
	}
	return w.sessions[agent], refs
}
