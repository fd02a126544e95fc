package frontback

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Group is a fair-share group.
type Group struct {
	Name string
	// Weight determines the fraction of the group: its weight divided by the sum of all weights. A group of
	// weight 0 goes to the front only with jobs that take nothing.
	Weight float64
}

// Settings are the choices of an administrator.
type Settings struct {
	Groups []Group
	// Priority lists the names of the priority groups, the highest first.
	Priority []string
	// Levels are the priorities of the levels in the QS, from the back up: back, front, then the priority
	// groups from the lowest to the highest. They must rise, or fall if the QS serves small numbers first.
	// Empty means 0, 1, 2, ...
	Levels []int64

	// Benefit returns the benefit of a job for its group.
	Benefit Benefit

	// Window is how long a benefit counts that was received or promised. HalfLife is the time in which it
	// halves. At most one of them may be set. Without either, the book never forgets, as in the source. Then
	// a group that comes late keeps the front for as long as it was away.
	Window   time.Duration
	HalfLife time.Duration

	// AtStart charges a job at the back when it starts instead of when it is submitted, because it receives
	// nothing while it waits. See [Book.Start].
	AtStart bool
	// KeepFailed counts the use of a failed job. Otherwise a failure counts nothing.
	KeepFailed bool
}

// check checks the settings, and returns the fractions of the groups.
func (s *Settings) check() ([]float64, error) {
	switch {
	case s.Benefit == nil:
		return nil, fmt.Errorf("frontback: no benefit function; known: %s", strings.Join(Builtin().Names(), ", "))
	case s.Window < 0 || s.HalfLife < 0:
		return nil, fmt.Errorf("frontback: window and half-life must not be below 0")
	case s.Window > 0 && s.HalfLife > 0:
		return nil, fmt.Errorf("frontback: both a window and a half-life: choose one")
	case len(s.Groups)+len(s.Priority) == 0:
		return nil, fmt.Errorf("frontback: no groups: name at least one")
	}
	seen := map[string]bool{}
	for _, name := range s.names() {
		if name == "" || seen[name] {
			return nil, fmt.Errorf("frontback: group %q: each group needs a name of its own", name)
		}
		seen[name] = true
	}
	var all sum
	for _, g := range s.Groups {
		if !(g.Weight >= 0) || g.Weight > maxBenefit {
			return nil, fmt.Errorf("frontback: group %q: the weight %v is not a number from 0 on", g.Name, g.Weight)
		}
		all.add(g.Weight)
	}
	if len(s.Groups) > 0 && all.value() == 0 {
		return nil, fmt.Errorf("frontback: all fair-share groups have the weight 0: give one of them more")
	}
	fractions := make([]float64, len(s.Groups))
	for i, g := range s.Groups {
		fractions[i] = g.Weight / all.value()
	}
	return fractions, s.checkLevels()
}

func (s *Settings) checkLevels() error {
	if len(s.Levels) == 0 {
		return nil
	}
	if want := 2 + len(s.Priority); len(s.Levels) != want {
		return fmt.Errorf("frontback: %d levels: back, front and %d priority groups need %d", len(s.Levels),
			len(s.Priority), want)
	}
	rises := s.Levels[1] > s.Levels[0]
	for i := 1; i < len(s.Levels); i++ {
		if a, b := s.Levels[i-1], s.Levels[i]; a == b || (b > a) != rises {
			return fmt.Errorf("frontback: levels %v neither rise all the way nor fall all the way", s.Levels)
		}
	}
	return nil
}

func (s *Settings) names() []string {
	names := slices.Clone(s.Priority)
	for _, g := range s.Groups {
		names = append(names, g.Name)
	}
	return names
}

// rungs returns the levels of the QS with their names, from the back up.
func (s *Settings) rungs() []Rung {
	rungs := []Rung{{Name: Back}, {Name: Front}}
	for _, name := range slices.Backward(s.Priority) {
		rungs = append(rungs, Rung{Name: Above, Group: name})
	}
	for i := range rungs {
		rungs[i].Priority = int64(i)
		if len(s.Levels) > 0 {
			rungs[i].Priority = s.Levels[i]
		}
	}
	return rungs
}
