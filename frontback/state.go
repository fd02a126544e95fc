package frontback

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// State is all that a book knows, to be kept somewhere safe: a book that is restored from
// it decides as the first one would have.
type State struct {
	Now    time.Time        `json:"now"`
	Groups map[string][]Lot `json:"groups"` // what they received
	Jobs   []Held           `json:"jobs"`   // in the QS, by their numbers
}

// Held is a job in the QS.
type Held struct {
	Job    int64   `json:"job"`
	Group  string  `json:"group"`
	Charge float64 `json:"charge"`
	Counts bool    `json:"counts"` // the charge counts already
}

// State returns what the book knows.
func (b *Book) State() State {
	s := State{Now: b.now, Groups: map[string][]Lot{}}
	for _, a := range b.accounts {
		if len(a.lots) > 0 {
			s.Groups[a.name] = slices.Clone(a.lots)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b.jobs)) {
		e := b.jobs[id]
		s.Jobs = append(s.Jobs, Held{id, e.group, e.charge, e.counts})
	}
	return s
}

// Restore begins a book with what another one knew, under settings that may be others.
// What groups received that are no longer there is dropped; their jobs still end.
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
				a.receive(l.Amount, l.At, &b.settings)
			}
		}
	}
	for _, h := range from.Jobs {
		if _, twice := b.jobs[h.Job]; twice || !counts(h.Charge) {
			return nil, fmt.Errorf("frontback: the state of job %d has the charge %v, or is there twice", h.Job, h.Charge)
		}
		b.jobs[h.Job] = entry{h.Group, h.Charge, h.Counts}
		if a := b.byName[h.Group]; a != nil && h.Counts {
			a.charge(h.Charge)
		}
	}
	b.at(from.Now)
	return b, nil
}
