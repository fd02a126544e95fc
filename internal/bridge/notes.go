package bridge

import (
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/why"
)

// sayEvery is the interval at which the server learns changes that concern only words. If thousands of tasks
// wait in a QS, the place of each in the queue may change all the time.
const sayEvery = 2 * time.Second

// notes adds the states of tasks in the QS that the server does not know to a request, and returns their
// items.
func (s *state) notes(req *api.ReportRequest) []*item {
	var reported []*item
	report := func(it *item) {
		if it.stage != ended && len(reported) < maxNotes {
			reported = append(reported, it)
			req.Notes = append(req.Notes, api.Note{Ref: it.lease.Ref, Bridged: s.note(it)})
		}
	}
	for _, it := range s.items {
		if it.unreported {
			report(it)
		}
	}
	if now := time.Now(); now.Sub(s.said) >= sayEvery {
		s.said = now
		for _, it := range s.items {
			if it.says && !it.unreported {
				report(it)
			}
		}
	}
	return reported
}

// note describes the state of a task in the QS.
func (s *state) note(it *item) why.Bridged {
	n := why.Bridged{
		Task: it.lease.Task, Number: it.lease.Number, Bridge: s.o.Name, System: s.o.System, ID: it.id, Phase: it.phase(),
		Says: bounded.Text(it.status.Says, maxCause), At: it.heard, Priority: it.priority, Forgot: it.forgot,
	}
	if n.At.IsZero() {
		n.At = it.submitted
	}
	if !it.began.IsZero() {
		n.Began = &it.began
	}
	if it.decision != nil {
		n.Place, n.Text = it.decision.Place, it.decision.Text()
		text, err := json.Marshal(it.decision)
		if err == nil {
			n.Decision = text
		}
	}
	return n
}

// phase returns the state of an item as a word.
func (it *item) phase() string {
	switch {
	case it.stop != "":
		return why.BridgedLeaving
	case it.unsure:
		return why.BridgedUnsure
	case it.stage == intent:
		return why.BridgedSending
	case it.status.Phase == Running:
		return why.BridgedRunning
	case it.status.Phase == Unsure && !it.heard.IsZero():
		return why.BridgedUnsure
	}
	return why.BridgedPending
}

// sameNote reports whether two notes contain the same news; it ignores the instants.
func sameNote(a, b why.Bridged) bool {
	a.At, b.At = time.Time{}, time.Time{}
	return a.Phase == b.Phase && a.ID == b.ID && a.Says == b.Says && a.Forgot == b.Forgot
}
