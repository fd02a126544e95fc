package sched

import (
	"math"
	"time"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

// PoolID numbers a pool of one scheduler; 0 is the root.
type PoolID int32

// Root is the pool above all others.
const Root PoolID = 0

// Pool is the state of one node of the tree, as policies see it. They read it; of
// all fields a policy may write only Own, in Carry.
//
// What every decision touches stands first, in two lines of the cache.
type Pool struct {
	usage.Account         // of all tasks in and below the pool
	Weight        float64 // among its siblings
	Flight        float64 // expected service of the running tasks: width x mean length in their leaf
	Own           [2]float64
	Waiting       int64 // tasks in and below the pool that could start if there were room
	Tasks         int32 // that run

	parent, inner, queue, limit int32 // -1: none
	kid                         int32 // position among the parent's children
	drift                       int32 // number of its order in the parent's keys
	tie                         float64
	band                        int8 // priority of the jobs of a leaf; -1: not known yet
	main                        int8 // resource in which it is compared, see mains
	in                          bool // stands in its parent's orders: it has work that may start
	needy                       bool // is below its minimum, or a pool in it is
	counted                     bool // for shares: configured, or with work
	configured                  bool // the configuration names it
	young                       bool // holds jobs that count as new, see [NewJobs]
	banded                      bool // its children are the priorities of a leaf
	kept                        gate // what held it back when it came in where it stood, see [Scheduler.returning]

	First   float64     // arrival of the first waiting job, see [Arrival]; kept up where a policy reads it
	Days    *usage.Days // by days, under a [Daily] policy
	Wanted  float64     // units of the tasks that wait and could start; kept up where a policy allots
	Target  float64     // units that it is entitled to, under an [Allotter]
	over    float64     // units above Target
	readyBy []int32     // lines that are ready, by main resource, if there is more than one
}

// Divides reports whether the pool has pools below it, the priorities of a leaf left out.
func (p *Pool) Divides() bool { return p.inner >= 0 && !p.banded }

// Arrival orders jobs by priority, highest (0) first, then by id. The number is
// exact as a float64 for fewer than 32 priorities and ids below 2^48.
func Arrival(priority int, job int64) float64 {
	return float64(priority)*arrivalBand + float64(job)
}

const arrivalBand = 1 << 48

// Cut takes an arrival apart.
func Cut(arrival float64) (priority int, job int64) {
	p := math.Floor(arrival / arrivalBand)
	return int(p), int64(arrival - p*arrivalBand)
}

// inner is what a pool with children has besides. "Open" children are those with
// work that may start.
type inner struct {
	id   int32 // of the pool
	kids []int32
	open int
	mean float64 // of the tasks' lengths when the pool became an inner one: those that ran are expected so

	policy  Policy
	keyed   Keyed // the same policy by what it is, or nil
	weigher Weigher
	allot   Allotter
	*allotting
	carrier Carrier

	drifter Drifter
	daily   Daily
	merger  Merger
	owing   *owing
	held    *holdings
	renewer Renewer
	ranker  Ranker

	keys     keys    // open children, under a keyed policy
	weights  sumTree // weights of the open children by position, under a weigher
	arrivals order   // open children by First, if first is set
	first    bool    // a policy here or above reads the children's First
	ranks    bool    // a policy here or above is a ranker
	rising   order   // open children by their first job below the maximum age, if ranks is set
	full     order   // the same of jobs above it
	needy    []int32 // open children that are below their minimum
	counted  sum     // of the weights of the children that count for shares
	clock    float64 // largest level of a child that was chosen, under a carrier
}

func newInner(id int32) inner {
	return inner{id: id, arrivals: order{by: inArrivalOrder}, rising: order{by: inRisingOrder}, full: order{by: inFullOrder}}
}

func (in *inner) setPolicy(p Policy) {
	in.policy = p
	in.keyed, _ = p.(Keyed)
	in.weigher, _ = p.(Weigher)
	if in.allot, _ = p.(Allotter); in.allot != nil {
		var over time.Time
		if in.allotting != nil {
			over = in.over
		}
		in.allotting = &allotting{over: over}
	}
	in.carrier, _ = p.(Carrier)
	in.drifter, _ = p.(Drifter)
	if _, owes := p.(Owing); !owes {
		in.owing = nil
	} else if in.owing == nil {
		in.owing = &owing{}
	}
	if _, holds := p.(Holding); !holds {
		in.held = nil
	} else if in.held == nil {
		in.held = &holdings{}
	}
	if in.daily, _ = p.(Daily); in.daily != nil {
		if n, _ := in.daily.Days(); n == 0 {
			in.daily = nil
		}
	}
	if in.merger, _ = p.(Merger); in.merger != nil && !in.merger.Merges() {
		in.merger = nil
	}
	in.renewer, _ = p.(Renewer)
	in.ranker, _ = p.(Ranker)
	in.keys = newKeys(in.drifter != nil)
}

// label is what a pool is called and how it was configured; decisions do without.
type label struct {
	name    string
	kind    kind
	weight  float64       // without boosts
	first   time.Time     // since when the pool is there
	starter share.Starter // for pools below that are made on demand
	policy  string        // "" is the parent's
	made    Policy        // of that name, nil without one
	factor  *float64      // of its jobs under a ranker, nil without one
	assoc   *float64
	reclaim share.Reclaim
}

// kind tells pools that the tree names from the bands within a leaf.
type kind uint8

const (
	named kind = iota
	band       // the jobs of one priority, where a leaf has jobs of several
)

type childKey struct {
	parent int32
	name   string
	kind   kind
}

// limit is the minimum and the maximum of a pool, and what is in use of them.
type limit struct {
	min, max   []int64 // by resource; -1 is none
	used       []int64
	wants      []int32 // of min: lines below that are ready and ask for it; see Scheduler.wanted
	tasks      int32   // at once in and below the pool; 0 is no limit
	jobRunning int32   // tasks of one job at once; 0 is no limit
	parked     []lineRef
	names      limitNames
}

// limitNames are the names of what a pool may have; see [Held].
type limitNames struct {
	tasks string
	max   []string // by resource
}

// below reports whether the pool has less than its minimum of something that it asks
// for. Everything asks for the unit, which is resource 0.
func (l *limit) below() bool {
	for r, least := range l.min {
		if l.used[r] < least && (r == 0 || l.wants[r] > 0) {
			return true
		}
	}
	return false
}

// helped reports whether the request takes some of what is missing of the minimum.
func (l *limit) helped(request []int64) bool {
	for r, least := range l.min {
		if l.used[r] < least && r < len(request) && request[r] > 0 {
			return true
		}
	}
	return false
}

// admits reports whether so many tasks of the request stay within the maximum.
func (l *limit) admits(request []int64, tasks int64) bool {
	for r, n := range request {
		if r < len(l.max) && l.max[r] >= 0 && n > 0 && l.used[r]+tasks*n > l.max[r] {
			return false
		}
	}
	return true
}

// full reports whether no task of any shape may start: each takes at least one
// unit, which is resource 0.
func (l *limit) full(tasks int32) bool {
	return l.tasks > 0 && tasks >= l.tasks ||
		len(l.max) > 0 && l.max[0] >= 0 && l.used[0] >= l.max[0]
}

func (l *limit) add(request []int64, sign int64) {
	for len(l.used) < len(request) {
		l.used = append(l.used, 0)
	}
	for r, n := range request {
		l.used[r] += sign * n
	}
}
