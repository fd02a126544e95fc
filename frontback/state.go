package frontback

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// State is everything that a book knows, in a form to be stored. A book that is restored from it decides like
// the original.
type State struct {
	Now    time.Time        `json:"now"`
	Groups map[string][]Lot `json:"groups"` // benefits that they received
	Jobs   []Held           `json:"jobs"`   // in the QS, by number
}

// Held is a job in the QS.
type Held struct {
	Job    int64   `json:"job"`
	Group  string  `json:"group"`
	Charge float64 `json:"charge"`
	Stage  string  `json:"stage"` // free, charged or running
	// Since is the instant from which the charge of a charged job counts.
	Since time.Time `json:"since,omitzero"`
}

var stages = []string{free: "free", charged: "charged", running: "running"}

// State returns everything that the book knows.
func (b *Book) State() State {
	s := State{Now: b.now, Groups: b.Received()}
	for _, id := range slices.Sorted(maps.Keys(b.jobs)) {
		h, _ := b.Held(id)
		s.Jobs = append(s.Jobs, h)
	}
	return s
}

// Restore returns a book with the state of another one, under settings that may differ. It drops the benefits
// of groups that the settings no longer contain; their jobs can still end.
func Restore(s Settings, from State) (*Book, error) {
	b, err := New(s)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(from.Groups)) {
		a := b.byName[name]
		for _, l := range from.Groups[name] {
			if !counts(l.Amount) {
				return nil, fmt.Errorf("frontback: the state of %s has the benefit %v", name, l.Amount)
			}
			if a != nil {
				a.received.add(l.Amount, l.At, &b.settings)
			}
		}
	}
	jobs := slices.Clone(from.Jobs)
	slices.SortStableFunc(jobs, func(a, b Held) int { return a.Since.Compare(b.Since) })
	for _, h := range jobs {
		if err := b.hold(h); err != nil {
			return nil, err
		}
	}
	b.at(from.Now)
	return b, nil
}

// hold adds a job that is in the QS. Charges must come in the order of their instants.
func (b *Book) hold(h Held) error {
	at := slices.Index(stages, h.Stage)
	if _, twice := b.jobs[h.Job]; twice || at < 0 || !counts(h.Charge) {
		return fmt.Errorf("frontback: the state of job %d has the charge %v in the stage %q, or is there twice", h.Job,
			h.Charge, h.Stage)
	}
	e := entry{h.Group, h.Charge, stage(at), h.Since}
	if a := b.byName[h.Group]; a != nil {
		switch e.stage {
		case charged:
			e.since = a.charge(h.Charge, h.Since, &b.settings)
		case running:
			a.run(h.Charge)
		}
	}
	b.jobs[h.Job] = e
	return nil
}

// Received returns the benefits of the groups, as in State. With [Book.Held] of each job it gives the state
// in parts, for callers who keep many jobs and write only the changes.
func (b *Book) Received() map[string][]Lot {
	groups := map[string][]Lot{}
	for _, a := range b.accounts {
		if lots := a.received.state(); len(lots) > 0 {
			groups[a.name] = lots
		}
	}
	return groups
}

// Held returns one job, as in State.
func (b *Book) Held(id int64) (Held, bool) {
	e, known := b.jobs[id]
	return Held{id, e.group, e.charge, stages[e.stage], e.since}, known
}
