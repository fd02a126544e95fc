package sched

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// Request is what a task asks for.
type Request struct {
	Amounts cluster.Amounts // on one node
	// Constraint is what the labels of the node have to satisfy.
	Constraint cluster.Constraint
	Licenses   map[string]int64 // of the whole cluster, held while the task runs
	Rates      []string         // under which the start counts
	// Gang is how many tasks start all at once, or not at all; 0 and 1: each for itself. A
	// job of a gang has as many tasks.
	Gang   int
	Spread bool // each task of the gang on a node of its own
	// Reservation is the name of the window in which they run; see [cluster.Window].
	Reservation string
}

// toll is what the tasks of a shape ask for that belongs to no node.
type toll struct {
	licenses []need
	rates    []int32
}

type need struct {
	license int32
	n       int64
}

// license is a number of things that tasks hold while they run, on whichever node.
type license struct {
	name        string
	of          string // see [Held]
	total, used int64
	parked      []lineRef
}

// rate is a limit of starts per time. One that is not configured limits nothing.
type rate struct {
	name string
	Bucket
	told   time.Time // as of when it was set, by the clock of whoever keeps it
	parked []lineRef
}

// ShapeOf numbers a request. Tasks with different tolls have different shapes, so that
// they wait in different lines and one that has to wait does not hold up the other.
func (s *Scheduler) ShapeOf(r Request) cluster.Shape {
	var t toll
	var marks []string
	for _, name := range slices.Sorted(maps.Keys(r.Licenses)) {
		if n := r.Licenses[name]; n > 0 {
			t.licenses = append(t.licenses, need{s.licenseNumber(name), n})
			marks = append(marks, fmt.Sprintf("%s=%d", name, n))
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.Rates))) {
		t.rates = append(t.rates, s.rateNumber(name))
		marks = append(marks, name)
	}
	shape := s.cluster.ShapeOf(cluster.Ask{
		Amounts: r.Amounts, Must: r.Constraint, Mark: strings.Join(marks, " "), Gang: r.Gang, Spread: r.Spread, Window: r.Reservation,
	})
	if len(marks) == 0 {
		return shape
	}
	for len(s.tolls) <= int(shape) {
		s.tolls = append(s.tolls, nil)
	}
	if s.tolls[shape] == nil {
		s.tolls[shape] = &t
	}
	return shape
}

// toll is what a shape asks for beside a node, nil for nothing.
func (s *Scheduler) toll(shape cluster.Shape) *toll {
	if int(shape) < len(s.tolls) {
		return s.tolls[shape]
	}
	return nil
}

func (s *Scheduler) licenseNumber(name string) int32 {
	n, ok := s.licenseOf[name]
	if !ok {
		n = int32(len(s.licenses))
		s.licenses = append(s.licenses, license{name: name, of: "license " + name})
		s.licenseOf[name] = n
	}
	return n
}

func (s *Scheduler) rateNumber(name string) int32 {
	n, ok := s.rateOf[name]
	if !ok {
		n = int32(len(s.rates))
		s.rates = append(s.rates, rate{name: name})
		s.rateOf[name] = n
	}
	return n
}

// setTolls puts the configured licences and rates in force. A licence that is not
// configured any more has the number 0, so that nothing starts that asks for it; a rate
// that is not configured any more limits nothing.
func (s *Scheduler) setTolls(cfg *Config) {
	for name := range cfg.Licenses {
		s.licenseNumber(name)
	}
	for name := range cfg.Rates {
		s.rateNumber(name)
	}
	for i := range s.licenses {
		l := &s.licenses[i]
		l.total, l.parked = cfg.Licenses[l.name], nil
	}
	for i := range s.rates {
		r := &s.rates[i]
		r.change(cfg.Rates[r.name], s.at)
		r.parked = nil
	}
	s.parkedRates = 0
}

// pay reports whether the licences and rates of a line let a task start. If not, the line
// is parked on the first that does not. Where room in the future is planned, licences are a
// part of the room.
func (s *Scheduler) pay(leaf int32, at lineRef, t *toll) bool {
	tasks := s.atOnce(s.line(at).shape)
	if !s.backfills() {
		if l := s.lackingLicense(t, tasks); l != nil {
			l.parked = append(l.parked, at)
			s.park(leaf, at, byLicense)
			return false
		}
	}
	for _, n := range t.rates {
		if r := &s.rates[n]; r.Limit.Count > 0 && r.Tokens(s.at) < r.Least(tasks) {
			r.parked = append(r.parked, at)
			s.parkedRates++
			s.park(leaf, at, byRate)
			return false
		}
	}
	return true
}

// lackingLicense is the first licence of which too few are free for so many tasks; nil if
// there is none.
func (s *Scheduler) lackingLicense(t *toll, tasks int64) *license {
	for _, need := range t.licenses {
		if l := &s.licenses[need.license]; l.used+tasks*need.n > l.total {
			return l
		}
	}
	return nil
}

// countStart takes the tokens of a start.
func (s *Scheduler) countStart(t *toll) {
	for _, n := range t.rates {
		if r := &s.rates[n]; r.Limit.Count > 0 {
			r.Take(s.at, 1)
		}
	}
}

// uncountStart gives them back: the task never ran.
func (s *Scheduler) uncountStart(t *toll) {
	for _, n := range t.rates {
		s.rates[n].give()
		s.openRate(&s.rates[n])
	}
}

// hold takes the licences of a task, or gives them back with the sign -1.
func (s *Scheduler) hold(t *toll, sign int64) {
	for _, need := range t.licenses {
		s.licenses[need.license].used += sign * need.n
	}
}

// openLicenses lets the lines try again that wait for licences of which some are free.
func (s *Scheduler) openLicenses(t *toll) {
	for _, need := range t.licenses {
		if l := &s.licenses[need.license]; l.used < l.total {
			s.returning(&l.parked, byLicense)
		}
	}
}

// openRates lets the lines try again that wait for a rate with tokens.
func (s *Scheduler) openRates() {
	if s.parkedRates == 0 {
		return
	}
	for i := range s.rates {
		s.openRate(&s.rates[i])
	}
}

func (s *Scheduler) openRate(r *rate) {
	if len(r.parked) > 0 && r.Tokens(s.at) >= s.leastOf(r) {
		s.parkedRates -= len(r.parked)
		s.returning(&r.parked, byRate)
	}
}

// leastOf is with how many tokens the first of the lines that wait for a rate goes on.
func (s *Scheduler) leastOf(r *rate) int64 {
	least := r.Limit.burst()
	for _, at := range r.parked {
		if least = min(least, r.Least(s.atOnce(s.line(at).shape))); least == 1 {
			break
		}
	}
	return least
}

// nextToken is the earliest instant at which a line that waits for a rate may go on;
// zero if none waits.
func (s *Scheduler) nextToken() (next time.Time) {
	if s.parkedRates == 0 {
		return next
	}
	for i := range s.rates {
		if r := &s.rates[i]; len(r.parked) > 0 {
			if t := r.when(s.leastOf(r)); next.IsZero() || t.Before(next) {
				next = t
			}
		}
	}
	return next
}

// returning unparks lines that a gate held back. Their pools were not away: they come in
// where they stood. Lifted to where the others are, as those that come back from an
// absence, all that wait for the same licence, for the same maximum or for a whole node
// would stand level again and again, and always the same would go first.
func (s *Scheduler) returning(parked *[]lineRef, g gate) {
	s.keeping = g
	s.unpark(parked)
	s.keeping = noGate
}

// joins ends the privilege of pools that came in where they stood: work has come that
// neither a licence nor a rate restricts, and for which the pool has been away.
func (s *Scheduler) joins(leaf int32) {
	for id := leaf; id != int32(Root); id = s.pools[id].parent {
		p := &s.pools[id]
		if p.kept < byLicense {
			continue
		}
		if in := s.parentOf(id); p.in && in.carrier != nil {
			if level := s.level(in); in.carrier.Level(p, s.now) < level {
				in.carrier.Carry(p, level, s.now)
			}
		}
		p.kept = noGate
		s.settle(id)
	}
}
