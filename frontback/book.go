package frontback

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of a book about the number of a job.
var (
	ErrUnknownJob = errors.New("frontback: no such job in the queueing system")
	ErrKnownJob   = errors.New("frontback: the job is in the queueing system already")
)

// Job describes a job to a book.
type Job struct {
	ID       int64  `json:"id"`
	Group    string `json:"group"`
	Estimate Use    `json:"estimate"`
}

// Outcome is how a job left the QS.
type Outcome int

// A job ran to its end, or failed, or left the QS before it started.
const (
	Done Outcome = iota
	Failed
	Withdrawn
)

// Correction is the change at the end of a job.
type Correction struct {
	Job      int64   `json:"job"`
	Group    string  `json:"group"`
	Charged  float64 `json:"charged"`  // on submission or start; now taken back
	Received float64 `json:"received"` // counts instead from now on
}

// Standing compares the benefit of a group with its fraction.
type Standing struct {
	Group    string  `json:"group"`
	Priority bool    `json:"priority,omitempty"` // a priority group has no fraction
	Benefit  float64 `json:"benefit"`            // B[g]
	Share    float64 `json:"share"`              // of the benefits of all fair-share groups
	Fraction float64 `json:"fraction"`
}

// Book keeps the benefits that each group received and was promised. It charges a job with its estimate when
// the job is submitted, and with its measured use when the job has ended. Both amounts decay, each from its
// own instant. While the job is known to run, its charge counts in full. An instant before the latest one
// counts as the latest one.
//
// A Book is for one goroutine at a time.
type Book struct {
	settings Settings
	rungs    []Rung
	accounts []*account // fair-share groups first, in the order of the settings
	fair     int        // number of fair-share groups
	byName   map[string]*account
	jobs     map[int64]entry
	now      time.Time
}

// entry is a job in the QS.
type entry struct {
	group  string
	charge float64
	stage  stage
	since  time.Time // in the stage "charged": when the charge counts from
}

// stage is how the charge of a job counts.
type stage int

const (
	free    stage = iota // the charge does not count yet
	charged              // the charge decays
	running              // the charge counts in full
)

// New returns an empty book. The caller must not change the settings afterwards.
func New(s Settings) (*Book, error) {
	fractions, err := s.check()
	if err != nil {
		return nil, err
	}
	b := &Book{settings: s, rungs: s.rungs(), fair: len(fractions), byName: map[string]*account{}, jobs: map[int64]entry{}}
	for i, f := range fractions {
		b.accounts = append(b.accounts, &account{name: s.Groups[i].Name, fraction: f})
	}
	for i, r := range b.rungs[2:] {
		b.accounts = append(b.accounts, &account{name: r.Group, rung: 2 + i})
	}
	for _, a := range b.accounts {
		b.byName[a.name] = a
	}
	return b, nil
}

// at moves the book to an instant.
func (b *Book) at(now time.Time) {
	if now.After(b.now) {
		b.now = now
	}
	for _, a := range b.accounts {
		a.age(b.now, &b.settings)
	}
}

// Decide returns where a job would go at an instant, and charges nothing.
func (b *Book) Decide(j Job, now time.Time) (Decision, error) {
	a := b.byName[j.Group]
	if a == nil {
		return Decision{}, fmt.Errorf("frontback: job %d: no group %q; known: %s", j.ID, j.Group,
			strings.Join(b.settings.names(), ", "))
	}
	benefit, err := b.benefit(j.ID, j.Group, j.Estimate)
	if err != nil {
		return Decision{}, err
	}
	b.at(now)
	d := Decision{Job: j.ID, Group: j.Group, Benefit: number(benefit), Levels: b.rungs}
	rung := b.rungs[a.rung]
	if a.rung == 0 {
		received, all := a.benefit(), b.all()
		d.Formula, d.Fraction = Formula.Text, number(a.fraction)
		d.Terms = terms(received, benefit, all)
		d.Share = number(share(Formula.Eval, received, benefit, all))
		if d.Share <= d.Fraction {
			rung = b.rungs[1]
		}
	}
	d.Place, d.Priority = rung.Name, rung.Priority
	return d, nil
}

// Submit decides, and charges the group of the job with the estimate.
func (b *Book) Submit(j Job, now time.Time) (Decision, error) {
	if _, known := b.jobs[j.ID]; known {
		return Decision{}, fmt.Errorf("job %d: %w", j.ID, ErrKnownJob)
	}
	d, err := b.Decide(j, now)
	if err != nil {
		return Decision{}, err
	}
	e := entry{group: j.Group, charge: float64(d.Benefit)}
	if !b.settings.AtStart || d.Place != Back {
		e.stage, e.since = charged, b.byName[j.Group].charge(e.charge, b.now, &b.settings)
	}
	b.jobs[j.ID] = e
	return d, nil
}

// Start says that the QS has started a job: from now on its charge counts in full until it ends, however long
// it waited. A caller who does not learn of starts need not call it, but then must not set
// [Settings.AtStart].
func (b *Book) Start(id int64, now time.Time) error {
	e, known := b.jobs[id]
	if !known {
		return fmt.Errorf("job %d: %w", id, ErrUnknownJob)
	}
	b.at(now)
	if e.stage == running {
		return nil
	}
	b.release(e)
	if a := b.byName[e.group]; a != nil {
		a.run(e.charge)
	}
	e.stage = running
	b.jobs[id] = e
	return nil
}

// release removes the charge of a job, wherever it counts.
func (b *Book) release(e entry) {
	a := b.byName[e.group]
	switch {
	case a == nil: // the settings no longer contain the group
	case e.stage == charged:
		a.uncharge(e.charge, e.since, &b.settings)
	case e.stage == running:
		a.stop(e.charge)
	}
}

// End takes the charge of a job back and counts its measured use instead. If the argument "used" is nil, the estimate
// counts. A failure counts nothing unless the settings keep it; a job that did not start counts nothing.
func (b *Book) End(id int64, how Outcome, used *Use, now time.Time) (Correction, error) {
	e, known := b.jobs[id]
	if !known {
		return Correction{}, fmt.Errorf("job %d: %w", id, ErrUnknownJob)
	}
	c := Correction{Job: id, Group: e.group}
	if how == Done || how == Failed && b.settings.KeepFailed {
		c.Received = e.charge
		if used != nil {
			var err error
			if c.Received, err = b.benefit(id, e.group, *used); err != nil {
				return Correction{}, err
			}
		}
	}
	b.at(now)
	delete(b.jobs, id)
	a := b.byName[e.group]
	if a == nil { // the settings no longer contain the group
		return Correction{Job: id, Group: e.group}, nil
	}
	if e.stage != free {
		c.Charged = e.charge
	}
	b.release(e)
	a.received.add(c.Received, b.now, &b.settings)
	return c, nil
}

// Standings returns the standings of the groups in the order of the settings, fair-share groups first.
func (b *Book) Standings(now time.Time) []Standing {
	b.at(now)
	all := b.all()
	var list []Standing
	for _, a := range b.accounts {
		s := Standing{Group: a.name, Priority: a.rung > 0, Benefit: a.benefit(), Fraction: a.fraction}
		if all > 0 && a.rung == 0 {
			s.Share = s.Benefit / all
		}
		list = append(list, s)
	}
	return list
}

// benefit calls the benefit function, and checks its result, because anybody may have written the function.
func (b *Book) benefit(id int64, group string, u Use) (float64, error) {
	x := b.settings.Benefit(u, group)
	if !counts(x) {
		return 0, fmt.Errorf("frontback: job %d of %s: the benefit %v is not a number from 0 on", id, group, x)
	}
	return x + 0, nil // no -0
}

// all returns the sum of B over the fair-share groups.
func (b *Book) all() float64 {
	var s sum
	for _, a := range b.accounts[:b.fair] {
		s.add(a.benefit())
	}
	return s.value()
}
