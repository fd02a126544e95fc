package forecast

import "github.com/fairlead/fairlead/why"

// fewKnown is the number of run times below which a range is a guess. A range covers the middle 80 % of the replays. If
// nine run times are known, a task outlasts all of them in one of ten replays (see [estimator.sample]), so the range
// rests on the known ones.
const fewKnown = 9

// knowledge is the smallest number of past run times that was known of a task when its run time was drawn.
type knowledge struct {
	fewest int
	drawn  bool // some run time was drawn
}

// note records that n run times were known of a task.
func (k *knowledge) note(n int) {
	if !k.drawn || n < k.fewest {
		k.fewest, k.drawn = n, true
	}
}

// missing reports whether no run time was known of some task.
func (k knowledge) missing() bool { return k.drawn && k.fewest == 0 }

// mark records in an estimate whether its range is a guess.
func (k knowledge) mark(out *why.Estimate) {
	if out.Guess = k.drawn && k.fewest < fewKnown; out.Guess {
		out.Known = k.fewest
	}
}

// unknown reports whether the range of an estimate rests on a task without a known run time.
func unknown(e *why.Estimate) bool { return e.Guess && e.Known == 0 }
