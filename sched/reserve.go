package sched

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// reserve plans future room, as running tasks end, and keeps it for waiting jobs.
type reserve struct {
	site    *site
	queues  *queues
	running *running
	growth  *growth
	quotas  *quotas
	tree    *tree
	tariff  *tariff

	predictor predictor
	backfill  backfilling
	hosts     []cluster.NodeID // found for a gang
	single    []cluster.NodeID // see alone
}

// backfilling is the state of [EASY] and [Conservative] backfilling.
type backfilling struct {
	plan *cluster.Plan // of the running tasks; nil: must be made
	ends endings
	// The list firsts has the jobs that go before all other jobs that wait for room. It has one of the jobs without
	// a window, and one job for each window, because only jobs of a window use its room. Under Conservative the
	// list is empty if jobs go in order of arrival.
	firsts   []reserved
	last     reserved // the first job of the previous step, if there was only one
	patience patience
	promises promises
	looks    lookups
	keep     keeper // conservative

	// The flag unfinished means that the last step ended at its limits. The field events is the event number
	// of that step.
	unfinished bool
	events     uint64

	// uniform means that all waiting and running tasks have the same request: no job can pass one that finds no
	// room, and nothing is planned.
	uniform bool
	alike   int // number of consecutive steps in which this held

	behind  int      // candidates of this pass that found no room behind the first jobs
	arrival bool     // the order of the waiting jobs never changes
	stable  bool     // arrival, and no prediction moves kept room
	tries   []subRef // of lookAgain
}

// lookups is when all sub-queues last looked for room, and the nodes whose tasks have ended since.
type lookups struct {
	events uint64
	at     int64
	freed  []cluster.NodeID
}

const (
	// cheapLook is the work (sub-queues plus an eighth of the nodes) that every step may do.
	cheapLook = 64
	// stayShare relates this work to events: all sub-queues try again after one event per stayShare units of work.
	stayShare = 8
	// longestStay is the longest time for which a job that should go first may have to wait until it is found.
	longestStay = 10 * time.Second
)

// free records that a task has ended on a node.
func (k *lookups) free(node cluster.NodeID) {
	if len(k.freed) < 2*cheapLook {
		k.freed = append(k.freed, node)
	}
}

// fork returns a copy for a fork of the scheduler, with the cluster of that fork.
func (b *backfilling) fork(c *cluster.Cluster) backfilling {
	f := *b
	if b.plan != nil {
		f.plan = b.plan.Clone(c)
	}
	f.ends, f.tries, f.firsts = slices.Clone(b.ends), nil, slices.Clone(b.firsts)
	f.patience, f.looks.freed = b.patience.fork(), slices.Clone(b.looks.freed)
	f.promises = b.promises.fork()
	f.keep.all, f.keep.fresh = slices.Clone(b.keep.all), slices.Clone(b.keep.fresh)
	f.keep.inOrder.soonest, f.keep.inOrder.shown, f.keep.inOrder.room = nil, nil, Room{}
	return f
}

// forget drops the turn of a job that starts or leaves, and the promise to it.
func (b *backfilling) forget(job int64) {
	b.patience.forget(job)
	b.promises.forget(job)
}

// ending is the planned end of a task.
type ending struct {
	until  int64
	run    int32
	serial uint32
}

// endings is a binary heap, the earliest end first. Tasks that ended early stay in it until their planned end.
type endings []ending

func (h *endings) push(e ending) {
	*h = append(*h, e)
	a := *h
	i := len(a) - 1
	for i > 0 && e.until < a[(i-1)/2].until {
		a[i] = a[(i-1)/2]
		i = (i - 1) / 2
	}
	a[i] = e
}

func (h *endings) pop() ending {
	a := *h
	top, e := a[0], a[len(a)-1]
	a = a[:len(a)-1]
	*h = a
	i := 0
	for {
		c := 2*i + 1
		if c >= len(a) {
			break
		}
		if c+1 < len(a) && a[c+1].until < a[c].until {
			c++
		}
		if e.until <= a[c].until {
			break
		}
		a[i] = a[c]
		i = c
	}
	if len(a) > 0 {
		a[i] = e
	}
	return top
}

// keeper is the list of planned starts, in the last order of the policy.
type keeper struct {
	all    []reserved
	fresh  []waiting // tasks that came since the last step
	freed  bool      // a task ended, so that some may move
	left   bool      // jobs with planned starts may have left
	held   bool      // some waiting tasks are not listed: a gate holds them back, or the list is long enough
	relist bool      // sub-queues were parked or moved: list all waiting tasks again

	inOrder inOrder
}

// inOrder is the state of a plan in the order of the policy.
type inOrder struct {
	next      int            // number of planned list entries
	soonest   map[span]int64 // earliest room behind the planned entries
	additions uint64         // number of jobs added since the plan was made
	seen      int            // number of fresh jobs found unable to start before the next plan
	newcomer  reserved       // a fresh job that may start without a new plan
	shown     []reserved     // see planShown
	// shownFirst is the first job without room in the shown plan, 0 if nodes are held for another job.
	shownFirst int64
	shownAt    moment
	room       Room // memory of the last copy that listed the tasks
}

// span is a key and a planned run time, which is a time limit or a prediction.
type span struct {
	key     cluster.Key
	length  int64
	endless bool // a prediction
}

// moment identifies when a plan was made: the event number, and the instant, because an order may follow the clock.
type moment struct {
	events  uint64
	instant int64
}

// waiting is a job with tasks without a planned start.
type waiting struct {
	job   int64
	at    subRef
	tasks int32
}

// reserved is the planned start of a task, or of a whole gang.
type reserved struct {
	job      int64 // 0: none
	at       subRef
	arrival  float64 // order of arrival
	key      cluster.Key
	nodes    []cluster.NodeID // one per task; the list is never changed
	from, to int64
	held     bool // from now on without end, see patience; from is the expected start
	endless  bool // the task has no time limit
	sure     bool // from rests on no prediction, see promises
	// lacksLicense means that the job lacks licenses: then only these are held, and no nodes.
	lacksLicense bool
}

// unplaced is the instant of a task without a planned start.
const unplaced = -1

// planRun takes the room of a running task in the plan.
func (f *reserve) planRun(i int32) {
	b, r := &f.backfill, &f.running.runs[i]
	b.plan.Take(r.node, r.key, f.site.instantOf(), r.until)
	f.planLicenses(r.key, -1, f.site.instantOf(), r.until)
	b.ends.push(ending{r.until, i, r.serial})
}

// planStart plans a running task, by its limit or its prediction.
func (f *reserve) planStart(i int32) {
	if f.backfill.plan == nil {
		return
	}
	r := &f.running.runs[i]
	r.expected = f.lengthOf(r)
	due := f.site.startOf(r).UnixNano() + r.expected
	r.until = max(due, f.site.instantOf())
	f.running.setLate(r, due < f.site.instantOf())
	f.planRun(i)
}

// planAgain replans a task that began later than planned. Under [Conservative] all planned starts have to be
// replanned.
func (f *reserve) planAgain(id RunID) {
	if f.site.plans == plansAll {
		f.backfill.plan = nil
		return
	}
	r := f.running.run(id)
	f.planEnd(r.node, r.key, r.until)
	f.planStart(int32(uint32(id)))
	f.site.events++
}

// planEnd gives back the remaining planned room of a task that ended.
func (f *reserve) planEnd(node cluster.NodeID, key cluster.Key, until int64) {
	if b := &f.backfill; b.plan != nil {
		b.plan.Give(node, key, f.site.instantOf(), until)
		f.planLicenses(key, +1, f.site.instantOf(), until)
		b.keep.freed = true
		b.looks.free(node)
	}
}

// overrun plans more time for tasks that should have ended: they are about to be stopped, their limit is not
// enforced, or their prediction was too short. Each time it adds as much time as they are late. It reports whether
// one of them runs on a node with room kept for a first job.
func (f *reserve) overrun(now int64) (late bool) {
	b := &f.backfill
	for len(b.ends) > 0 && b.ends[0].until <= now {
		e := b.ends.pop()
		r := &f.running.runs[e.run]
		if !r.used || r.serial != e.serial || r.until != e.until {
			continue
		}
		late = late || f.keptOn(r.node)
		length := f.lengthOf(r)
		due := f.site.startOf(r).UnixNano() + length
		r.until = max(due, now+max(now-due, min(length, int64(moreTime))))
		f.running.setLate(r, due <= now)
		f.planRun(e.run)
	}
	return late
}

// moreTime is the least time that overrun adds, unless the task is planned to be shorter.
const moreTime = 10 * time.Second

// keptOn reports whether a node has room kept for a first job. Tasks that end before the start of that job go to
// such a node, and leave the other nodes to longer tasks.
func (f *reserve) keptOn(id cluster.NodeID) bool {
	return slices.ContainsFunc(f.backfill.firsts, func(r reserved) bool { return r.on(id) })
}

// find finds a node, or the nodes for a gang, where a task with a key fits now and may stay up to its limit.
func (f *reserve) find(key cluster.Key, limit time.Duration) (node cluster.NodeID, fits bool) {
	gang := f.site.gangOf(key) > 0
	if !gang && !f.site.cluster.Windows().Any() {
		return f.site.cluster.Place(key)
	}
	now := f.site.instantOf()
	if !gang {
		return f.site.cluster.PlaceUntil(key, now, now+planned(limit))
	}
	f.hosts, fits = f.site.cluster.PlaceGangUntil(key, now, now+planned(limit), f.hosts[:0])
	if fits {
		node = f.hosts[0]
	}
	return node, fits
}

// planLicenses gives back the licenses of one task in the plan, or takes them if sign is -1.
func (f *reserve) planLicenses(key cluster.Key, sign, from, to int64) {
	if f.quotas.holdsLicense(key) {
		f.backfill.plan.AddCommon(f.quotas.licensesOf(key, sign), from, to)
	}
}

// hasRoom reports whether a task of a sub-queue has room now.
func (f *reserve) hasRoom(sub *subQueue) bool {
	_, fits := f.find(sub.key, sub.limit)
	return fits
}
