package policy

import (
	"cmp"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// lotteryPolicy draws a child with work at random, in proportion to its weight. The number of its waiting jobs does not
// matter ("Fair Job Queue Scheduling": each server picks at random):
//
//	chance = weight / sum of the weights of the children with work
//
// With one level of pools, one for each {user, kind}, all kinds of all users have equal chances. With two levels,
// all users have equal chances, and so have the kinds of one user.
//
// A step draws up to 5 leaf pools and takes up to 10 jobs of each, as far as there is room ("Fair Job Queue
// Scheduling": 5 tuples at random, up to 10 jobs of each). Both numbers are options.
//
// Example: A/1, A/2, A/3 and B/1 wait, weights 1. One level of four pools: 25% each. Two levels: A and B 50% each,
// so B/1 50% and A/1 to A/3 16.7% each.
type lotteryPolicy struct{ pools, jobs int }

func newLottery(o Options) lotteryPolicy {
	return lotteryPolicy{cmp.Or(o.ShortlistPools, 5), cmp.Or(o.ShortlistJobs, 10)}
}

var lottery = why.NewFormula("lottery", "weight", "drawn at random, in proportion",
	why.Term{Name: "weight", Doc: "its weight among its siblings"},
).Phrased("", "weight {key}")

// Formula implements sched.Policy.
func (lotteryPolicy) Formula() *why.Formula { return lottery }

// Weigh implements sched.Weigher.
func (lotteryPolicy) Weigh(p *sched.Pool) why.Terms {
	t := why.Terms{Formula: lottery, Key: p.Weight}
	t.Values[0] = p.Weight
	return t
}

// Shortlist implements sched.Shortlister.
func (l lotteryPolicy) Shortlist() (pools, jobs int) { return l.pools, l.jobs }

var (
	_ sched.Weigher     = lotteryPolicy{}
	_ sched.Shortlister = lotteryPolicy{}
)
