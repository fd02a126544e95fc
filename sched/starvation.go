package sched

import (
	"slices"

	"github.com/fairlead/fairlead/why"
)

// Starves reports whether other jobs can pass a waiting job forever, and returns the reason as a closed gate. The name
// of the gate is the setting that lets them pass, Where is the pool with that order or maximum, and the job lacks Need
// of Limit. The answer follows from the present facts. These are the resource that the job lacks, the jobs that ask for
// less of this resource or always go first, and whether the backfill rule keeps room for the job. For example, no job
// asks for less than a job of one slot, and no job passes one for which nodes are held until it starts.
//
// If codes are given, other reasons do not count. With StarveWidth alone Starves reads less, because it does not look
// for jobs that always go first: to find these, it visits all queues for each pool on the path to the job.
func (v GateView) Starves(j Job, codes ...why.Code) (why.Gate, bool) {
	if v.holdsUntilItStarts(j.ID) {
		return why.Gate{}, false
	}
	ways := []func(*Job) (why.Gate, bool){v.passedBelowMax, v.passedForLicenses, v.passedInRoom, v.outranked}
	if slices.Equal(codes, []why.Code{why.StarveWidth}) {
		ways = ways[:len(ways)-1]
	}
	for _, passed := range ways {
		g, yes := passed(&j)
		g.Code = starving[g.Name]
		if yes && (len(codes) == 0 || slices.Contains(codes, g.Code)) {
			return g, true
		}
	}
	return why.Gate{}, false
}

// holdsUntilItStarts reports whether nodes are held for a job until it starts, and not just until its pool has received
// its share.
func (v GateView) holdsUntilItStarts(job int64) bool {
	p := &v.s.Read().withFirst().s.reserve.backfill.patience
	i, known := p.find(job)
	return job != 0 && p.held.job == job && (!known || p.of[i].share == 0)
}
