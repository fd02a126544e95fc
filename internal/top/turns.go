package top

import "time"

// tick reports the end of a wait; its number shows whether it is the last tick that was set.
type tick int

// turns decides when to refresh: at once after an event, but not during a refresh, and not before nine times
// the duration of the last one has passed.
//
//	looking --answer--> resting --tick--> idle --event or tick--> looking
//	                       |--tick, if there was an event---->|
type turns struct {
	number  int // of the last refresh: only its answer counts
	looking bool
	resting bool
	missed  bool // an event meanwhile
	ticks   int
}

const (
	rest = 250 * time.Millisecond
	idle = 2 * time.Second
)

// begin starts a refresh and returns its number. If another refresh is in progress, its answer no longer
// counts.
func (t *turns) begin() int {
	t.number++
	t.looking, t.resting, t.missed = true, false, false
	t.ticks++
	return t.number
}

// stop cancels a refresh in progress and a pending tick: neither has an effect any longer.
func (t *turns) stop() {
	t.begin()
	t.looking = false
}

// ends records the end of a refresh, and returns the time to rest.
func (t *turns) ends(took time.Duration) time.Duration {
	t.looking, t.resting = false, true
	return max(rest, 9*took)
}

// happens records an event, and reports whether to refresh now.
func (t *turns) happens() bool {
	t.missed = t.looking || t.resting
	return !t.missed
}

// passes handles the tick with a number. It reports whether to refresh now, and if not, returns the next
// wait, or 0 if the tick was not the last one that was set.
func (t *turns) passes(number tick) (look bool, wait time.Duration) {
	switch {
	case int(number) != t.ticks:
		return false, 0
	case t.resting && !t.missed:
		t.resting = false
		return false, idle - rest
	}
	return true, 0
}
