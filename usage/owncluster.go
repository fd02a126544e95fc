package usage

import (
	"container/heap"
	"math"
	"time"
)

// OwnCluster compares the ends of a pool's tasks with their ends on a private cluster of the size of the pool's
// share. Sharing pays off for a pool whose tasks never end later than on the private cluster. The lateness of a
// task is max(0, end - end on the private cluster).
//
// In a live system, the private cluster is a fluid of c = share x capacity slots that serves the tasks of the pool
// in the order in which they really ended. The n-th task then ends at
//
//	V_n = max(V_n-1, submitted) + width x length / c
//	own = max(V_n, submitted + length)
//
// since a task does not run faster on more slots than it asks for. A task wider than c runs on c slots,
// proportionally longer. This is exact for a pool that always has work. For a pool with few long tasks the fluid is
// a little faster than whole slots would be. If the share changes, the new share counts for the whole task.
// [OwnFinish] is exact, for callers that know all lengths.
//
// Example: c = 2, three tasks of 10 s and width 1, all submitted at 0, end at 10, 20 and 30, because the pool had
// one slot only. V is 5, 10 and 15, and the tasks would have ended at 10, 10 and 15: they are late by 0, 10 and 15
// s.
type OwnCluster struct {
	busy    time.Time // V: the private cluster has work until then
	Tasks   int64     // number of tasks that ended
	Seconds float64   // total lateness
	Largest float64   // largest lateness, in seconds
}

// End records the end of a task, and returns the lateness of that task. The argument "slots" is the size of the private
// cluster; if it is 0, nothing is late. The argument "width" is the number of slots that the task occupied.
func (o *OwnCluster) End(slots, width float64, submitted, started, ended time.Time) time.Duration {
	length := ended.Sub(started)
	if slots <= 0 || length < 0 {
		return 0
	}
	if o.busy.Before(submitted) {
		o.busy = submitted
	}
	work := length.Seconds() * width / slots
	o.busy = o.busy.Add(time.Duration(math.Min(work, 1e9) * float64(time.Second)))
	own := o.busy
	if soonest := submitted.Add(length); own.Before(soonest) {
		own = soonest
	}
	late := max(0, ended.Sub(own))
	o.Tasks++
	o.Seconds += late.Seconds()
	o.Largest = math.Max(o.Largest, late.Seconds())
	return late
}

// OwnTask is a task for [OwnFinish]; times are in seconds.
type OwnTask struct {
	Submit, Length float64
	Width          int
}

// OwnFinish returns when each task of a pool would end on a private cluster of whole slots that starts the tasks
// strictly in the given order, the order of submission. A task wider than the cluster takes all slots,
// proportionally longer.
//
// Example: two slots; tasks of 10, 4 and 4 s with width 1, submitted at 0, and one of 5 s with width 2 submitted at
// 1. They end at 10, 4, 8 and, since it needs both slots, 15.
func OwnFinish(slots int, tasks []OwnTask) []float64 {
	if slots < 1 {
		slots = 1
	}
	ends := make(releases, 0, slots)
	free, now := slots, 0.0
	finish := make([]float64, len(tasks))
	for i, t := range tasks {
		width, length := max(1, t.Width), t.Length
		if width > slots {
			width, length = slots, length*float64(width)/float64(slots)
		}
		now = math.Max(now, t.Submit)
		for len(ends) > 0 && (free < width || ends[0].at <= now) {
			e := heap.Pop(&ends).(release)
			now = math.Max(now, e.at)
			free += e.slots
		}
		finish[i] = now + length
		free -= width
		heap.Push(&ends, release{finish[i], width})
	}
	return finish
}

// release is a number of slots that become free.
type release struct {
	at    float64
	slots int
}

type releases []release

func (r releases) Len() int           { return len(r) }
func (r releases) Less(i, j int) bool { return r[i].at < r[j].at }
func (r releases) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *releases) Push(x any)        { *r = append(*r, x.(release)) }
func (r *releases) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}
