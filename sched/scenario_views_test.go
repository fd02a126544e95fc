package sched_test

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// The following commands only read; see TestScenarios.

// why prints the comparisons on the way to a pool, as the command why does.
func (p *play) why(args []string, _ string) {
	a := why.Answer{
		At: p.now, Levels: p.s.Explain().Comparisons(p.s.Pool(args[0]), 0),
		Units: why.Units{Unit: p.s.Cluster().Unit(), AsOf: p.now, Growth: p.s.Read().Now().Growth},
	}
	_, text, _ := strings.Cut(a.Text(), "SHARE ")
	text, _, _ = strings.Cut(text, "\n  step ")
	for i, line := range strings.Split(text, "\n") {
		if i > 0 { // the numbers stand below the word that was cut
			line = strings.TrimPrefix(line, strings.Repeat(" ", 8))
		}
		p.say("%s", line)
	}
}

// starves prints what lets other jobs pass a job forever, given the facts of this moment.
func (p *play) starves(args []string, _ string) {
	g, yes := p.s.GateView().Starves(p.jobs[args[0]].Job)
	if !yes {
		p.say("nobody can pass %s forever", args[0])
		return
	}
	p.say("%s: %s %s of %s %s: %s", g.Code, g.Name, cmp.Or(g.Need, "-"), cmp.Or(g.Limit, "-"), g.Where, g.Text)
}

// owed prints the lags of the children of a pool, in each resource.
func (p *play) owed(args []string, _ string) {
	parent := sched.Root
	if len(args) > 0 {
		parent = p.s.Pool(args[0])
	}
	for _, o := range p.s.Debts(parent) {
		text := fmt.Sprintf("%s of %s: owed %s = %s ideal - %s received", o.Resource, p.s.Read().Name(o.Child), digits(o.Ideal-o.Received), digits(o.Ideal), digits(o.Received))
		p.say("%s; ideal now %s, runs %s", text, digits(o.Rate), digits(o.Running))
	}
}

func (p *play) entitled([]string, string) {
	e := p.s.Read().Entitlements()
	for i := 1; i < p.s.Read().Pools(); i++ {
		if id := sched.PoolID(i); !p.s.Read().PriorityClass(id) {
			v := p.s.View(id)
			p.say("%s: share %.2f%%, runs %s, entitlement now %s", p.s.Path(id), 100*e[i].Share, why.Short(v.Running), why.Short(e[i].Now))
		}
	}
}

// rounds prints how the policy load allots the free slots.
func (p *play) rounds(args []string, _ string) {
	parent := sched.Root
	if len(args) > 0 {
		parent = p.s.Pool(args[0])
	}
	kids, room := p.s.Read().Children(parent), p.s.Cluster().FreeUnits()
	classes := p.s.Claimants(parent)
	for i, c := range classes {
		p.say("%s: load %s%%, target %d, runs %d, waits %d", p.s.Read().Name(kids[i]), why.Short(c.Load), c.Target, c.Running, c.Waiting)
	}
	left := room
	for _, r := range p.s.Read().Policy(parent).(policy.Load).Rounds(room, classes) {
		var parts []string
		for i, n := range r.Grants {
			if r.Parts[i] > 0 {
				parts = append(parts, fmt.Sprintf("%s %s%s gets %d", p.s.Read().Name(kids[i]), why.Short(r.Parts[i]), r.Unit, n))
			}
			left -= n
		}
		p.say("%s of %d: %s; %d left", r.Phase, r.Amount, cmp.Or(strings.Join(parts, ", "), "nobody"), left)
	}
}
