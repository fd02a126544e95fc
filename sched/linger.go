package sched

import (
	"maps"
	"slices"
	"time"
)

// The tasks of a gang end at nearly the same time. If their room were given back one by one,
// a narrow task could take the first of it, and a gang that waits would find the rest a moment
// too late. So the room of the first is held until the last has ended, but not for long: there
// are gangs of which one task does more than the others. (Slurm's CompleteWait is for the same.)

// lingerMost is for how long the room of a task is held for the others of its gang.
const lingerMost = time.Second

// lingering is the room of tasks of a gang that ended lately. In the plan they still run.
type lingering struct {
	held  []heldRoom
	until time.Time
}

// lingers reports whether the room of a task that ends is held: others of its gang run.
func (s *Scheduler) lingers(r *run) bool {
	return s.gangOf(r.shape) > 0 && s.begun[r.begun].running > 1
}

// linger holds the room of a task.
func (s *Scheduler) linger(r *run) {
	if s.lingering == nil {
		s.lingering = map[int64]lingering{}
	}
	x := s.lingering[r.job]
	if len(x.held) == 0 {
		x.until = s.at.Add(lingerMost)
	}
	x.held = append(slices.Clip(x.held), heldRoom{r.node, r.shape, r.until})
	s.lingering[r.job] = x
}

// giveHeld gives back the room that is held for a gang.
func (s *Scheduler) giveHeld(job int64) {
	for _, room := range s.lingering[job].held {
		s.cluster.Give(room.node, room.shape)
		s.planEnd(room.node, room.shape, room.until)
	}
	delete(s.lingering, job)
}

// endLingering gives back what was held for long enough.
func (s *Scheduler) endLingering() {
	if len(s.lingering) == 0 {
		return
	}
	before := len(s.lingering)
	for _, job := range slices.Sorted(maps.Keys(s.lingering)) {
		if !s.lingering[job].until.After(s.at) {
			s.giveHeld(job)
		}
	}
	if len(s.lingering) < before {
		s.events++
		s.openFits()
	}
}

// nextLinger is when the next room is given back that is held; zero if there is none.
func (s *Scheduler) nextLinger() (next time.Time) {
	for _, x := range s.lingering {
		next = earlier(next, x.until)
	}
	return next
}
