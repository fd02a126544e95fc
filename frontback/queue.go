package frontback

import "fmt"

// Answer is the answer to a question about a QS.
type Answer int

// Unknown means that a QS does not answer.
const (
	Unknown Answer = iota
	No
	Yes
)

// Queue describes how a QS treats priorities, as far as it reports that.
type Queue struct {
	Name string
	// Ages: the QS changes priorities by itself as jobs wait. The source assumes that it does not, because
	// otherwise a job at the back would pass the front after some time.
	Ages Answer
	// Obeys: the priority that we choose counts. The QS does not ignore or change it because we lack a
	// privilege.
	Obeys Answer
	// Lowest and Highest are the bounds of the priorities that it takes; both 0 means any.
	Lowest, Highest int64
	// SmallFirst: the QS serves small numbers first.
	SmallFirst bool
	// Found are further findings about the QS, with advice, in the terms of the QS.
	Found []Doubt
	// Notes are further hints.
	Notes []string
}

// Doubt is a precondition of the algorithm that a QS does not meet, or does not report.
type Doubt struct {
	Broken bool // false: unknown
	Text   string
}

// Doubts checks whether a QS meets the preconditions of the algorithm.
func (s *Settings) Doubts(q Queue) []Doubt {
	var doubts []Doubt
	switch q.Ages {
	case Yes:
		doubts = append(doubts, Doubt{true, q.Name +
			" raises priorities of jobs that wait: a job at the back passes the front in time, and fair-share jobs pass priority groups; turn its ageing off"})
	case Unknown:
		doubts = append(doubts, Doubt{false, q.Name +
			" does not tell whether it changes priorities of jobs that wait: if it does, fractions and priority groups do not hold"})
	}
	switch q.Obeys {
	case No:
		doubts = append(doubts, Doubt{true, q.Name +
			" ignores the priorities that we choose: it needs an account that may set them"})
	case Unknown:
		doubts = append(doubts, Doubt{false, q.Name +
			" does not tell whether we may set priorities: if not, all jobs stay in the order of their submission"})
	}
	doubts = append(doubts, q.Found...)
	rungs := s.rungs()
	back, top := rungs[0].Priority, rungs[len(rungs)-1].Priority
	if (top < back) != q.SmallFirst {
		first := "large"
		if q.SmallFirst {
			first = "small"
		}
		doubts = append(doubts, Doubt{true, fmt.Sprintf("%s serves %s numbers first, but the levels go from %d at the back to %d: turn them round", q.Name, first, back, top)})
	}
	if low, high := min(back, top), max(back, top); (q.Lowest != 0 || q.Highest != 0) &&
		(low < q.Lowest || high > q.Highest) {
		doubts = append(doubts, Doubt{true, fmt.Sprintf("%s takes priorities from %d to %d, the levels need %d to %d", q.Name,
			q.Lowest, q.Highest, low, high)})
	}
	return doubts
}
