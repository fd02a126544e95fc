package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairlead/fairlead/usage"
)

// Association is a node of a tree that is ranked by [FairShares]: an account, or, without
// children, a user.
type Association struct {
	Weight, Used float64
	Kids         []*Association

	LevelFS   float64 // set by FairShares
	FairShare float64 // of a user: set by FairShares

	weights, usedByAll float64 // of the siblings
}

func (a *Association) user() bool { return len(a.Kids) == 0 }

// FairShares ranks the users of a tree by level_fs, as the policy fairtree serves them:
// the first gets the fair share 1, the last 1 / users, and users that tie the same.
//
// The children of accounts that tie are ranked as the children of one. With slurm they
// are not, as in Slurm's program: the account that was made first is ranked first, and
// the first child of the next ties with the last that was ranked.
func FairShares(top []*Association, slurm bool) {
	r := ranking{slurm: slurm, users: users(top)}
	r.left, r.rank = r.users, r.users
	measure(top)
	r.walk(slices.Clone(top), false)
}

func users(all []*Association) (n int) {
	for _, a := range all {
		if a.user() {
			n++
		}
		n += users(a.Kids)
	}
	return n
}

type ranking struct {
	slurm      bool
	users      int
	left, rank int // users not ranked yet, and the rank of the last
}

// measure computes level_fs of siblings.
func measure(siblings []*Association) {
	var weights, used float64
	for _, a := range siblings {
		weights += a.Weight
		used += a.Used
	}
	for _, a := range siblings {
		a.weights, a.usedByAll = weights, used
		a.LevelFS = LevelFS(a.Weight, weights, a.Used, used)
	}
}

// walk ranks siblings, or the children of tied ones together.
func (r *ranking) walk(siblings []*Association, tied bool) {
	slices.SortStableFunc(siblings, func(a, b *Association) int {
		return cmp.Or(a.compare(b), bool2int(b.user())-bool2int(a.user()))
	})
	for i := 0; i < len(siblings); i++ {
		a := siblings[i]
		if i > 0 {
			tied = a.compare(siblings[i-1]) == 0
		}
		switch {
		case a.user():
			if !tied {
				r.rank = r.left
			}
			a.FairShare = float64(r.rank) / float64(r.users)
			r.left--
		case r.slurm:
			r.walk(r.children(a), tied)
		default:
			next := i + 1
			for next < len(siblings) && siblings[next].compare(a) == 0 {
				next++
			}
			r.walk(r.children(siblings[i:next]...), false)
			i = next - 1
		}
	}
}

func (r *ranking) children(of ...*Association) []*Association {
	var all []*Association
	for _, a := range of {
		measure(a.Kids)
		all = append(all, a.Kids...)
	}
	return all
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compare orders by level_fs, largest first, and exactly: two quotients that are equal
// may differ when they are rounded.
func (a *Association) compare(b *Association) int {
	if a.LevelFS == 0 || b.LevelFS == 0 || math.IsInf(a.LevelFS, 1) || math.IsInf(b.LevelFS, 1) {
		return cmp.Compare(b.LevelFS, a.LevelFS)
	}
	return usage.Product(b.Weight, b.usedByAll, a.weights, a.Used).Cmp(usage.Product(a.Weight, a.usedByAll, b.weights, b.Used))
}
