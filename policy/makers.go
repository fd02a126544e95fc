package policy

import (
	"maps"
	"slices"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why/replay"
)

// makers has the constructor of each policy, by its name in a configuration.
var makers = map[string]func(o Options, of share.Options) sched.Policy{
	"fair":        func(Options, share.Options) sched.Policy { return fairPolicy{} },
	"decay":       func(_ Options, of share.Options) sched.Policy { return newDecay(of.Decay) },
	"fairtree":    func(_ Options, of share.Options) sched.Policy { return Fairtree{of.Compat == "slurm"} },
	"fifo":        func(Options, share.Options) sched.Policy { return fifoPolicy{} },
	"multifactor": func(Options, share.Options) sched.Policy { return multifactorPolicy{} },
	"lottery":     func(o Options, _ share.Options) sched.Policy { return newLottery(o) },
	"load":        func(_ Options, of share.Options) sched.Policy { return newLoad(of) },
	"deficit":     func(Options, share.Options) sched.Policy { return deficitPolicy{} },
	"drf":         func(Options, share.Options) sched.Policy { return drfPolicy{} },
}

// New returns a constructor of policies. The constructor takes the name of a policy and the options of the pool that
// names it, and returns nil for an unknown name.
func New(o Options) func(name string, of share.Options) sched.Policy {
	return func(name string, of share.Options) sched.Policy {
		if m := makers[name]; m != nil {
			return m(o, of)
		}
		return nil
	}
}

// Rule returns how replay.Verify recomputes the standings under a policy. It returns nil if the name is unknown or
// the policy decides by chance.
func Rule(name string) replay.Rule {
	rule, _ := New(Options{})(name, share.Options{}).(replay.Rule)
	return rule
}

// Zero reports whether a policy supports pools of weight 0.
func Zero(name string) bool {
	_, ok := New(Options{})(name, share.Options{}).(sched.Zeroer)
	return ok
}

// Names are the names of all policies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(makers)) }
