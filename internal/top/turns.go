package top

import "time"

// tick says that a time is over; its number tells whether it is the last that was set.
type tick int

// turns decides when to look at the server: at once when something happens, but not while a
// look is under way, and not sooner after one than nine times as long as it took.
//
//	looking --answer--> resting --tick--> idle --event or tick--> looking
//	                       |--tick, if something happened-->|
type turns struct {
	number  int // of the last look: only its answer counts
	looking bool
	resting bool
	missed  bool // something happened meanwhile
	ticks   int
}

const (
	rest = 250 * time.Millisecond
	idle = 2 * time.Second
)

// begin counts a look, and is its number. One that is still under way does not count any
// more.
func (t *turns) begin() int {
	t.number++
	t.looking, t.resting, t.missed = true, false, false
	t.ticks++
	return t.number
}

// stop lets a look that is under way, and a tick that is to come, count for nothing.
func (t *turns) stop() {
	t.begin()
	t.looking = false
}

// ends says that a look is over, and how long to rest.
func (t *turns) ends(took time.Duration) time.Duration {
	t.looking, t.resting = false, true
	return max(rest, 9*took)
}

// happens says that something happened, and returns whether to look now.
func (t *turns) happens() bool {
	t.missed = t.looking || t.resting
	return !t.missed
}

// passes says that the time of a tick is over. It returns whether to look now, and if not, how
// long to wait then; 0 if it was not the last tick.
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
