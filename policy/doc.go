// Package policy holds the rules by which a pool divides among its children, one
// file each with its formula and a worked example on top. What a rule is asked, and
// when, is package sched's; what it counts with, package usage's.
//
// It is part of floor 1: no input or output, no clock, no goroutine, no lock.
package policy

import (
	"maps"
	"slices"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// Options are the settings of policies that hold for the whole configuration.
type Options struct {
	// ShortlistPools and ShortlistJobs are how many pools a step of a lottery draws,
	// and how many jobs it takes from each; 0 is 5 and 10.
	ShortlistPools, ShortlistJobs int
}

// makers make the policies, by the names that a configuration uses.
var makers = map[string]func(o Options, of share.Options) sched.Policy{
	"fair":        func(Options, share.Options) sched.Policy { return Fair{} },
	"decay":       func(_ Options, of share.Options) sched.Policy { return newDecay(of.Decay) },
	"fairtree":    func(_ Options, of share.Options) sched.Policy { return Fairtree{of.Compat == "slurm"} },
	"fifo":        func(Options, share.Options) sched.Policy { return Fifo{} },
	"multifactor": func(Options, share.Options) sched.Policy { return Multifactor{} },
	"lottery":     func(o Options, _ share.Options) sched.Policy { return newLottery(o) },
	"load":        func(_ Options, of share.Options) sched.Policy { return newLoad(of) },
	"deficit":     func(Options, share.Options) sched.Policy { return Deficit{} },
	"drf":         func(Options, share.Options) sched.Policy { return Drf{} },
}

// New returns what makes a policy of its name and of the options of the pool that names
// it, nil for an unknown name.
func New(o Options) func(name string, of share.Options) sched.Policy {
	return func(name string, of share.Options) sched.Policy {
		if m := makers[name]; m != nil {
			return m(o, of)
		}
		return nil
	}
}

// Zero reports whether a pool of the weight 0 makes sense to a policy.
func Zero(name string) bool {
	_, ok := New(Options{})(name, share.Options{}).(sched.Zeroer)
	return ok
}

// Names are the names of all policies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(makers)) }
