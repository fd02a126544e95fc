package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairlead/fairlead/usage"
)

// Association is a node of a tree that [FairShares] ranks: an account or, if it has no children, a user.
type Association struct {
	Weight, Used float64
	Kids         []*Association

	LevelFS   float64 // set by FairShares
	FairShare float64 // set by FairShares, for users only

	weights, usedByAll float64 // sums over the siblings, including itself
}

func (a *Association) user() bool { return len(a.Kids) == 0 }

// FairShares ranks the users of a tree by level_fs, in the order in which the policy fairtree serves them. The
// first user gets the fair share 1, the last one 1 / users, and tied users get the same fair share.
//
// The children of tied accounts are ranked as if they had one parent. If the argument "slurm" is set, they are ranked
// as in Slurm's program: the oldest account is ranked first, and the first child of the next account ties with the last
// ranked user.
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
	left, rank int // number of users not ranked yet, and the rank of the last ranked user
}

// measure computes the level_fs of siblings.
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

// walk ranks siblings. It ranks the children of tied siblings together.
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

// compare orders by level_fs, largest first. It compares exactly, because equal quotients may round differently.
func (a *Association) compare(b *Association) int {
	if a.LevelFS == 0 || b.LevelFS == 0 || math.IsInf(a.LevelFS, 1) || math.IsInf(b.LevelFS, 1) {
		return cmp.Compare(b.LevelFS, a.LevelFS)
	}
	return usage.Product(b.Weight, b.usedByAll, a.weights, a.Used).Cmp(usage.Product(a.Weight, a.usedByAll, b.weights, b.Used))
}
