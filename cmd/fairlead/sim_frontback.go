package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/sim/qs"
	"github.com/fairlead/fairlead/policy"
)

// frontbackName is the simulator's name for a bridge in front of a queue that knows only priorities. No pool
// of the tree can have this policy.
const frontbackName = "frontback"

// putInFront sets up a run with a bridge in front of a queue that serves by priority, and jobs of one
// priority in the order of arrival.
func (p *simPolicy) putInFront(backfill string) error {
	known := backfillNames()["fcfs"]
	if backfill != "" && backfill != known.String() {
		return usagef("--policy %s: the queue behind the bridge has no backfilling; leave out --backfill %s", frontbackName, backfill)
	}
	p.name, p.shares.Sched.Backfill = frontbackName, known
	p.front = &bridge.Groups{Settings: frontback.Settings{HalfLife: p.shares.Sched.HalfLife, AtStart: true}}
	return nil
}

// bridgeFile replaces the groups of the tree by those in the configuration of a bridge.
func (p *simPolicy) bridgeFile(name string) error {
	if name == "" {
		return nil
	}
	if p.front == nil {
		return usagef("--bridge needs --policy %s", frontbackName)
	}
	s, err := config.LoadBridge(name, nil)
	if err != nil {
		return err
	}
	p.front, err = bridgeGroups(s, s.Levels)
	return err
}

// run runs a workload under the policy.
func (p *simPolicy) run(w *sim.Workload, o sim.Options) (*sim.Result, error) {
	if p.front == nil {
		return sim.Run(w, o)
	}
	g := p.front.For(w.Pools, p.weights())
	jobs := make([]qs.Job, len(w.Jobs))
	for i, j := range w.Jobs {
		jobs[i] = qs.Job{
			ID: int64(i), Width: int(j.Procs), Group: g.Group(w.Pools[j.Pool]),
			Arrives: virtual(j.Submit), Runs: virtual(j.Run), Estimate: virtual(j.Estimate),
		}
	}
	ran, err := qs.Run(g.Book(), qs.Server{Workers: w.Procs}, jobs)
	if err != nil {
		return nil, err
	}
	start := make([]int64, len(jobs))
	for _, r := range ran {
		start[r.ID] = int64(r.Start / time.Second)
	}
	if o.Progress != nil {
		if err := o.Progress(len(jobs)); err != nil {
			return nil, err
		}
	}
	return sim.Measured(w, o.Config, start)
}

func virtual(n int64) time.Duration { return time.Duration(n) * time.Second }

// weights returns the weights of the pools below the root.
func (p *simPolicy) weights() []frontback.Group {
	var all []frontback.Group
	for _, x := range p.shares.Sched.Root.Pools {
		all = append(all, frontback.Group{Name: x.Name, Weight: cmp.Or(x.Weight, 1)})
	}
	return slices.Clip(all)
}

// setup reads the configuration and applies the flags.
func (s *simFlags) setup(file, root, backfill string) (*simPolicy, error) {
	cfg := config.Default()
	cfg.Shares.Sched.Depth = 0 // without a file the schedules follow the textbook
	if file != "" {
		var err error
		if cfg, err = loadConfig(s.app, file); err != nil {
			return nil, err
		}
	}
	p := &simPolicy{shares: cfg.Shares}
	if root != "" {
		if name, fits, both := strings.Cut(root, "+"); both && slices.Contains(policy.Names(), name) {
			return nil, usagef("--policy %q: sim run has a flag for each part: --policy %s --backfill %s", root, name, fits)
		}
		if root == frontbackName {
			return p, p.putInFront(backfill)
		}
		if !slices.Contains(policy.Names(), root) {
			return nil, usagef("--policy %q is not one of %s, %s", root, strings.Join(policy.Names(), ", "), frontbackName)
		}
		p.shares.Sched.Root.Policy = root
	}
	p.name = p.shares.Sched.Root.Policy
	if backfill != "" {
		known := backfillNames()
		b, ok := known[backfill]
		if !ok {
			return nil, usagef("--backfill %q is not one of %s", backfill, backfillList())
		}
		p.shares.Sched.Backfill = b
	}
	return p, nil
}
