package bridge

import (
	"encoding/json"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/why"
)

// sayEvery is how often the server is told of words alone. Where thousands wait, the place of
// each in the line may change all the time.
const sayEvery = 2 * time.Second

// notes adds to a request where tasks are in the QS, as far as the server does not know, and
// returns their items.
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

// note is where a task is in the QS.
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

// phase is how far an item is, in a word.
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

// sameNote reports whether a note tells what another one does, apart from the instant.
func sameNote(a, b why.Bridged) bool {
	a.At, b.At = time.Time{}, time.Time{}
	return a.Phase == b.Phase && a.ID == b.ID && a.Says == b.Says && a.Forgot == b.Forgot
}
