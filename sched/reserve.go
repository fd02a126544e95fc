package sched

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// reserve is room in the future: it is kept for waiting jobs, as running tasks end.
type reserve struct {
	site    *site
	lines   *lines
	running *running
	growth  *growth
	quotas  *quotas
	tree    *tree

	predictor predictor
	backfill  backfilling
	hosts     []cluster.NodeID // that were found for a gang
	single    []cluster.NodeID // see alone
}

// backfilling is what the scheduler keeps under [EASY] and [Conservative].
type backfilling struct {
	plan *cluster.Plan // of the running tasks; nil: to be made anew
	ends endings
	// firsts are the jobs that wait for room and go before all others that do: one
	// of those who ask for no window, and one of each window, as nobody else gets that room. Under
	// Conservative there are none where jobs go in order of arrival.
	firsts   []reserved
	last     reserved // that of the step before, if there was one only
	patience patience
	looks    lookups
	keep     keeper // conservative

	// unfinished is set when the last step ended at its limits; events says when it was.
	unfinished bool
	events     uint64

	// uniform is set while all that waits and runs asks for the same: a job that finds no room is then
	// passed by nobody, and nothing is planned.
	uniform bool
	alike   int // steps in a row in which that was so

	behind  int       // candidates of this pass that found no room behind that of first
	arrival bool      // the order of the waiting jobs never changes
	stable  bool      // it never does, and no prediction moves the room that is kept
	tries   []lineRef // of lookAgain
}

// lookups says when all lines looked for room, and on which nodes tasks have ended since.
type lookups struct {
	events uint64
	at     int64
	freed  []cluster.NodeID
}

const (
	// cheapLook is the number of lines, and of eights of nodes, that are looked at in every step.
	cheapLook = 64
	// stayShare is the share of that number which events have to reach before all look again.
	stayShare = 8
	// longestStay bounds how long a job that goes before the first waits to be the first.
	longestStay = 10 * time.Second
)

// free notes that a task has ended on a node.
func (k *lookups) free(node cluster.NodeID) {
	if len(k.freed) < 2*cheapLook {
		k.freed = append(k.freed, node)
	}
}

// fork returns a copy for a fork of the scheduler, which has a cluster of its own.
func (b *backfilling) fork(c *cluster.Cluster) backfilling {
	f := *b
	if b.plan != nil {
		f.plan = b.plan.Clone(c)
	}
	f.ends, f.tries, f.firsts = slices.Clone(b.ends), nil, slices.Clone(b.firsts)
	f.patience, f.looks.freed = b.patience.fork(), slices.Clone(b.looks.freed)
	f.keep.all, f.keep.fresh = slices.Clone(b.keep.all), slices.Clone(b.keep.fresh)
	f.keep.inOrder.soonest, f.keep.inOrder.shown, f.keep.inOrder.room = nil, nil, forkRoom{}
	return f
}

// ending is when a task is planned to end.
type ending struct {
	until  int64
	run    int32
	serial uint32
}

// endings is a binary heap, the earliest first. Tasks that ended early stay in it until
// their time comes.
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

// keeper is the room that is kept, in the order of the policy when it was last asked.
type keeper struct {
	all    []reserved
	fresh  []waiting // came since the last step
	freed  bool      // something ended, so that some may move
	left   bool      // jobs left that may have room kept
	held   bool      // not all that wait are in the list: a gate holds them back, or it is long enough
	relist bool      // lines were held back or moved: all that wait have to be looked for

	inOrder inOrder
}

// inOrder is what a plan in the order of the policy remembers.
type inOrder struct {
	next      int            // how many of the list are planned
	soonest   map[span]int64 // the earliest room behind these
	additions uint64         // of jobs, since the plan was made
	seen      int            // how many of the fresh jobs were found to start no earlier than at the next plan
	newcomer  reserved       // a fresh job that may start although nothing is planned anew
	shown     []reserved     // see planShown
	shownAt   moment
	room      forkRoom // of the last copy that listed the tasks
}

// span is what tasks ask for, and for how long.
type span struct {
	key    cluster.Key
	length int64
}

// moment is when a plan was made: after how many events, and at which instant, as an order may follow the
// clock.
type moment struct {
	events  uint64
	instant int64
}

// waiting is a job with tasks for which no room is kept yet.
type waiting struct {
	job   int64
	at    lineRef
	tasks int32
}

// reserved is room that is kept for a task, or for all of a gang.
type reserved struct {
	job      int64 // 0: none
	at       lineRef
	arrival  float64 // order of arrival
	key      cluster.Key
	nodes    []cluster.NodeID // one for each task; a list that is never changed
	from, to int64
	held     bool // from now on and for ever, see patience; from is when it is expected to start
	// lacksLicense is set if the job lacks licenses: then only these are held, and no nodes.
	lacksLicense bool
}

// unplaced is the instant of a task for which no room was found yet.
const unplaced = -1

// planRun takes the room of a task that runs.
func (f *reserve) planRun(i int32) {
	b, r := &f.backfill, &f.running.runs[i]
	b.plan.Take(r.node, r.key, f.site.instantOf(), r.until)
	f.planLicenses(r.key, -1, f.site.instantOf(), r.until)
	b.ends.push(ending{r.until, i, r.serial})
}

// planStart plans a task that runs, by its limit.
func (f *reserve) planStart(i int32) {
	if f.backfill.plan == nil {
		return
	}
	r := &f.running.runs[i]
	r.expected = f.lengthOf(r)
	r.until = max(f.site.startOf(r).UnixNano()+r.expected, f.site.instantOf())
	f.planRun(i)
}

// planAgain plans a task anew that began later than was planned. Room that is kept for all that wait has to
// be found anew.
func (f *reserve) planAgain(id RunID) {
	if f.site.cfg.Placement == Conservative {
		f.backfill.plan = nil
		return
	}
	r := f.running.run(id)
	f.planEnd(r.node, r.key, r.until)
	f.planStart(int32(uint32(id)))
	f.site.events++
}

// planEnd gives back what a task that ended would still have had, up to an instant.
func (f *reserve) planEnd(node cluster.NodeID, key cluster.Key, until int64) {
	if b := &f.backfill; b.plan != nil {
		b.plan.Give(node, key, f.site.instantOf(), until)
		f.planLicenses(key, +1, f.site.instantOf(), until)
		b.keep.freed = true
		b.looks.free(node)
	}
}

// overrun plans more time for tasks that should have ended: they are about to be ended, no limit is
// enforced, or they were predicted to be shorter. Each time it is as long again as they are late. It
// reports whether one of them runs where room is kept for a first job.
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
		f.planRun(e.run)
	}
	return late
}

// moreTime is the least time that a task is given which runs over its limit, if it is not shorter.
const moreTime = 10 * time.Second

// keptOn reports whether room is kept on a node for a first job. Tasks that end before then go
// there, and leave the other nodes to longer tasks.
func (f *reserve) keptOn(id cluster.NodeID) bool {
	return slices.ContainsFunc(f.backfill.firsts, func(r reserved) bool { return r.on(id) })
}

// find finds a node on which a task with a key fits now, or those for a gang, and which it
// may use for as long as it may run.
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

// planLicenses gives back the licences of one task in the plan, or takes them with the
// sign -1.
func (f *reserve) planLicenses(key cluster.Key, sign, from, to int64) {
	if f.quotas.holdsLicense(key) {
		f.backfill.plan.AddCommon(f.quotas.licensesOf(key, sign), from, to)
	}
}

// hasRoom reports whether there is room for a task of a line.
func (f *reserve) hasRoom(l *line) bool {
	_, fits := f.find(l.key, l.limit)
	return fits
}
