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

// ghost reports, in the name of agents that are well, ends of attempts that are over, and
// renews them: as a packet that was on its way for long, or an agent that slept. Each of these
// has to be refused. What becomes of them is seen by the witness, like everything else.
type ghost struct {
	fleet   *fleet
	rng     *rand.Rand
	clients []*api.Client // through the wires
}

func newGhost(f *fleet, seed uint64) *ghost {
	g := &ghost{fleet: f, rng: rand.New(rand.NewPCG(seed, 99))}
	for _, r := range f.sites {
		g.clients = append(g.clients, dial(f.t, r.wire.socket))
	}
	return g
}

// run haunts until it is stopped.
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
	g.clients[site].Report(ctx, name, report) // the answer, if there is one, is seen by the wire
}

// over returns the session of an agent, and some attempts, mostly late ones, that are over.
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
