package explain

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// ShortReason says why a job waits, in one line of a table.
type ShortReason struct {
	Rank int64 // place of its next task in the order of starts; 0 if not known
	Code why.Code
	Text string
}

// subKey identifies jobs that wait for the same thing: a pool and a request.
type subKey struct {
	leaf sched.PoolID
	key  cluster.Key
}

// subReasons caches the reasons of sub-queues; each is computed once.
type subReasons struct {
	s        *engine.State
	known    map[subKey]why.Reason
	passed   map[subKey]why.Reason // of sub-queues that others can pass forever, else empty
	starving []why.Code            // the codes of starvation that count; empty: all
}

func reasonsBySub(s *engine.State, starving ...why.Code) *subReasons {
	return &subReasons{s, map[subKey]why.Reason{}, map[subKey]why.Reason{}, starving}
}

// maxPassed bounds the sub-queues that are checked for starvation, because the check reads all running and waiting
// tasks.
const maxPassed = 200

// starves reports whether others can pass the sub-queue of a job forever, and the reason.
func (l *subReasons) starves(j *queue.Job) (r why.Reason, starves bool) {
	job := l.s.JobOf(engine.HeaderOf(j))
	sub := subKey{l.s.Core.Leaf(job), job.Key}
	r, known := l.passed[sub]
	if !known && len(l.passed) < maxPassed && slices.Contains(passable, l.reason(j).Code) {
		r, _ = passedReason(l.s, job, j, l.starving...)
		l.passed[sub] = r
	}
	return r, r.Code != ""
}

// othersOf names the one job that a job depends on, or says for how many it waits.
func othersOf(j *queue.Job, waits int) string {
	if len(j.After) == 1 {
		return fmt.Sprintf("job %d", j.After[0].Job)
	}
	return units.Plural(waits, "other job")
}

// starvesReason sets the reason if others can pass a job forever.
func (l *subReasons) starvesReason(j *queue.Job, r *ShortReason) bool {
	x, starves := l.starves(j)
	if !starves {
		return false
	}
	r.Code, r.Text = x.Code, "room; jobs that ask for less may pass it forever"
	return true
}

// reason returns why the sub-queue of a job waits.
func (l *subReasons) reason(j *queue.Job) why.Reason {
	job := l.s.JobOf(engine.HeaderOf(j))
	sub := subKey{l.s.Core.Leaf(job), job.Key}
	r, known := l.known[sub]
	if !known {
		r = reasonFor(l.s, sub.leaf, l.s.Core.GateView().SubQueueGates(sub.leaf, sub.key))
		l.known[sub] = r
	}
	return r
}

// hopeless sets the reason if the nodes have a problem that only a person can fix: no node that takes tasks is large
// enough.
func (l *subReasons) hopeless(j *queue.Job, r *ShortReason) bool {
	reason := l.reason(j)
	switch reason.Code {
	case why.NoNodes:
		r.Text = reason.Text
	case why.FitNever:
		r.Text = "no node is large enough"
		if j.Constraint != "" || len(j.Avoid) > 0 {
			r.Text = "no node satisfies what it asks for"
		}
		if j.Gang > 1 {
			r.Text = "too few nodes could run it"
		}
		if len(j.Argv) == 0 && engine.WhoCould(l.s.Core, l.s.JobOf(engine.HeaderOf(j))) != "" {
			r.Text = "no worker handles this kind"
		}
	default:
		return false
	}
	r.Rank, r.Code = 0, reason.Code
	return true
}

// refusedReason sets the reason if nodes could not begin a job and no node has begun it.
func refusedReason(st *engine.State, j *queue.Job, r *ShortReason) bool {
	text := refusedText(st, j)
	if text == "" || beganOnce(j) {
		return false
	}
	r.Rank, r.Code, r.Text = 0, startRefused, "another node: "+text
	return true
}

// turnReason sets the reason of a job that has no room or is not next. Only the order knows which of the jobs that wait
// for room goes first.
func (l *subReasons) turnReason(j *queue.Job, order *Order, r *ShortReason) {
	reason := l.reason(j)
	leaf := l.s.Core.Leaf(l.s.JobOf(engine.HeaderOf(j)))
	lacks := slices.Contains(lacksRoom, reason.Code)
	switch first := order.firstBeside(l.s.Core, leaf); {
	case lacks && r.Rank > 0 && first > 0 && first < r.Rank,
		lacks && r.Rank == 0 && l.s.Core.View(leaf).Waiting > int64(j.Waiting):
		reason = why.Reason{Code: why.OrderBehind, Text: "other jobs of its pool"}
	case lacks && r.Rank > 1:
		reason = othersFirst("")
	}
	r.Code, r.Text = reason.Code, reason.Text
}

// ShortReasons returns the reason of each waiting job.
func (ex *Explainer) ShortReasons(ctx context.Context, jobs []*queue.Job) map[int64]ShortReason {
	return ex.ReasonsIn(ex.Order(ctx), jobs)
}

// ReasonsIn is [Explainer.ShortReasons] with an order that the caller already has.
func (ex *Explainer) ReasonsIn(order *Order, jobs []*queue.Job) map[int64]ShortReason {
	out := map[int64]ShortReason{}
	return engine.Read(ex.loop, func(s *engine.State) map[int64]ShortReason {
		now := time.Now()
		up := someNodeUp(s)
		subs := reasonsBySub(s, why.StarveWidth)
		kept := s.Core.Read().Kept()
		for _, j := range jobs {
			if j.Waiting == 0 || j.State.Ended() {
				continue
			}
			r := ShortReason{Rank: order.Position[j.ID]}
			switch {
			case j.Held:
				r.Code, r.Text = why.GateHeld, heldText(j)
			case j.Pending > 0:
				r.Code, r.Text = why.GateAfter, othersOf(j, j.Pending)
			case j.Begin.After(now):
				r.Code, r.Text = why.GateBegin, "begins "+instant.Text(j.Begin)
			case pauses(s, j):
				r.Code, r.Text = why.GateBegin, "a pause before its next attempt"
			case j.MaxRunning > 0 && j.Running >= j.MaxRunning:
				r.Code, r.Text = why.GateJobTasks, fmt.Sprintf("%d of its tasks at once", j.MaxRunning)
			case subs.reason(j).Code == why.GateNever, subs.reason(j).Code == why.GatePaused:
				r.Rank, r.Code, r.Text = 0, subs.reason(j).Code, subs.reason(j).Text
			case windowReason(s, j, &r, now):
			case !up:
				r.Code, r.Text = why.NoNodes, "a node: none takes tasks"
			case refusedReason(s, j, &r):
			case subs.hopeless(j, &r):
			case quotaReason(s, j, &r):
			case slices.Contains(forRoom, subs.reason(j).Code) && keptReason(s, j, kept, &r, now):
			case subs.starvesReason(j, &r):
			case r.Rank == 1:
				r.Code, r.Text = lackOfRoom(s), "room; it is next"
			default:
				subs.turnReason(j, order, &r)
			}
			out[j.ID] = r
		}
		return out
	})
}

// pauses reports whether all waiting tasks of a job pause before another attempt.
func pauses(s *engine.State, j *queue.Job) bool {
	now, later := s.Core.Read().Waits(s.JobOf(engine.HeaderOf(j)))
	return later && !now
}

// forRoom are the codes of sub-queues that wait only for room.
var forRoom = append([]why.Code{why.ShareBehind, why.OrderBehind}, lacksRoom...)

// lacksRoom are the codes of sub-queues whose pool is first and finds no room.
var lacksRoom = []why.Code{why.CapacityFull, why.FitNow, why.FitReserved}

// quotaReason sets the reason if a license or rate holds a job back. A license with too small a total comes first.
func quotaReason(s *engine.State, j *queue.Job, r *ShortReason) bool {
	if len(j.Licenses)+len(j.Rates)+s.Shares.Users.Running == 0 {
		return false
	}
	for _, reason := range reasonsOf(closedGates(s.Core.GateView().QuotaGates(s.JobOf(engine.HeaderOf(j)).Key))) {
		r.Rank, r.Code, r.Text = 0, reason.Code, reason.Text
		return true
	}
	return false
}

// WhyPool explains the service of a pool: how it compares with its siblings, and its restrictions.
func (ex *Explainer) WhyPool(ctx context.Context, name string, siblings int) (*why.Answer, error) {
	if err := ex.update(ctx, name); err != nil {
		return nil, err
	}
	return engine.Read2(ex.loop, func(s *engine.State) (*why.Answer, error) {
		s.Core.Advance(time.Now())
		core, id, err := poolpath.FindOrMake(s.Core, &s.Shares, name)
		if err != nil {
			return nil, err
		}
		s = s.With(core)
		p := s.Core.View(id)
		a := Answer(s, &queue.Job{Pool: s.Core.Path(id)})
		a.Subject = why.Subject{
			Name: "pool", Pool: s.Core.Path(id), State: "idle", Waiting: p.Waiting, Running: int64(p.Tasks),
		}
		a.Levels = s.Core.Explain().Comparisons(id, siblings)
		gates, limit := s.Core.GateView().FirstGates(id)
		explainWindows(gates, limit, true, time.Now())
		a.Gates = inWords(gates)
		a.Verdict = why.AsDesigned
		switch {
		case p.Waiting == 0:
			a.Reason = why.Reason{Code: why.PoolIdle, Text: "nothing waits in it"}
			return a, nil
		default:
			a.Subject.State = "waiting"
			a.Reason = reasonFor(s, id, gates)
			a.Verdict = verdictOf(a.Reason)
		}
		entitled := s.Core.Read().Entitlements()[id]
		a.Others = append(a.Others, why.Reason{Code: a.Reason.Code, Text: fmt.Sprintf(
			"it has %s %s now, and is entitled to %s at the present demand",
			why.Short(p.Running), s.Core.Cluster().Unit(), why.Short(math.Round(entitled.Now*100)/100))})
		a.Others = append(a.Others, starvingReason(s, s.Core.Path(id), a.At)...)
		return a, nil
	})
}

// keptReason sets the reason if room is kept for the job itself, or for another job that keeps it from starting. Room
// that is only planned in the present order does not count for a job that is not next: such a job waits for its turn.
func keptReason(s *engine.State, j *queue.Job, kept map[int64]room.Kept, r *ShortReason, now time.Time) bool {
	if len(kept) == 0 {
		return false
	}
	if own, yes := kept[j.ID]; yes && (r.Rank <= 1 || !own.Tentative()) {
		r.Code, r.Text = lackOfRoom(s), ownRoom(&own, s.Shares.Sched.Backfill == sched.Conservative, r.Rank)
		return true
	}
	other := s.Core.GateView().InTheWay(s.JobOf(engine.HeaderOf(j)))
	if other == nil {
		return false
	}
	r.Code, r.Text = why.FitReserved, fmt.Sprintf("room kept for job %d from %s", other.Job,
		other.BeginsAt(instant.Text(other.From)))
	return true
}

// ownRoom says that a job waits for the room that is kept for it. It names no instant if the order of the jobs changes
// as tasks run, because lists show the expected start beside it, and the two may differ. If "everyone" is set, each
// job has a planned start, and the next step plans again in the present order, in which the job has the rank "rank".
func ownRoom(k *room.Kept, everyone bool, rank int64) string {
	anew := everyone && k.MayMove && !k.Held && !k.Owed
	switch {
	case anew && rank == 1 && k.Tentative():
		return "room; it is next"
	case anew && rank > 1, k.Tentative():
		return "room"
	case k.MayMove:
		return "room, kept for it"
	}
	return "room, kept from " + k.BeginsAt(instant.Text(k.From))
}

// windowReason sets the reason if a reservation or maintenance keeps a job from starting.
func windowReason(s *engine.State, j *queue.Job, r *ShortReason, now time.Time) bool {
	if j.Reservation == "" && !s.Core.Cluster().Windows().Any() {
		return false
	}
	job := s.JobOf(engine.HeaderOf(j))
	gates, room := s.Core.GateView().WindowGates(job), s.Core.Cluster().Room(job.Key)
	explainWindows(gates, j.Limit, room, now)
	closed := closedGates(gates)
	if len(closed) == 0 {
		return false
	}
	g := closed[0]
	if comesLater(g, room, now) {
		return false
	}
	if r.Code, r.Text = g.Code, g.Text; keepsFree(g.Code) {
		r.Text = shortWindow(g.Window, now)
	} else {
		r.Rank = 0
	}
	return true
}
