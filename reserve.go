package fairlead

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// Reservation keeps nodes for a time: for the jobs of some users and pools that ask for it,
// or, as a maintenance, for nobody.
type Reservation struct {
	Name        string    `json:"name"`
	Nodes       []string  `json:"nodes"`
	From        time.Time `json:"from"`
	Until       time.Time `json:"until"`
	Maintenance bool      `json:"maintenance,omitempty"`
	// Pools and Users may use it: jobs of these pools, or of those below them, and jobs of
	// these users.
	Pools  []string  `json:"pools,omitempty"`
	Users  []string  `json:"users,omitempty"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Made   time.Time `json:"made"`
}

// reservations are those in force or to come.
type reservations struct {
	changing sync.Mutex // held while one is changed, also in the store
	all      map[string]Reservation
}

// ReserveOptions say how a reservation is made.
type ReserveOptions struct {
	// Lasts is how long it lasts, where Until is not given.
	Lasts time.Duration
	// Count nodes are chosen, where none are named, that have the amounts of Request and
	// satisfy the Constraint: those first on which no task is in the way.
	Count      int
	Request    Amounts
	Constraint string
	// Force makes it although running tasks may still run when it begins. They go on.
	Force bool
	// DryRun says what would be in the way, and makes nothing: whatever runs, it is no error.
	DryRun bool
	From   string // by which way it was asked for
}

// Overrun is a running task that may still run when a reservation of its node begins.
type Overrun struct {
	Job   int64     `json:"job"`
	Task  int       `json:"task"`
	User  string    `json:"user"`
	Node  string    `json:"node"`
	Until time.Time `json:"until,omitzero"` // by its time limit; zero if it has none
}

// OverrunError is an [ErrForbidden] about a reservation that running tasks may run into.
type OverrunError struct {
	Name  string
	Tasks []Overrun
}

func (e *OverrunError) Error() string {
	return fmt.Sprintf("%s; they would go on: begin later, choose other nodes, or reserve nevertheless with --force", OverrunText(e.Tasks, time.Now()))
}

// Is makes errors.Is(err, ErrForbidden) true.
func (e *OverrunError) Is(target error) bool { return target == ErrForbidden }

// refusal is an [ErrForbidden] that says all there is to say.
type refusal string

func (r refusal) Error() string { return string(r) }

// Is makes errors.Is(err, ErrForbidden) true.
func (r refusal) Is(target error) bool { return target == ErrForbidden }

// reservationSetting is the key prefix under which reservations are kept.
const reservationSetting = "reservation/"

// nameOfReservation is what a reservation may be called.
var nameOfReservation = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// Reserve makes a reservation or, if there is one of that name, changes it: nodes, times and
// those who may use it stay where r does not give them. It returns the reservation, and the
// running tasks that may run into it.
func (l *Loop) Reserve(ctx context.Context, r Reservation, o ReserveOptions) (Reservation, []Overrun, error) {
	if !nameOfReservation.MatchString(r.Name) {
		return r, nil, invalid("name", "%q is not a name for a reservation: letters, digits, - _ and . are", r.Name)
	}
	if err := checkText("reason", r.Reason, MaxName); err != nil {
		return r, nil, err
	}
	if err := l.sync(ctx); err != nil {
		return r, nil, err
	}
	l.reservations.changing.Lock()
	defer l.reservations.changing.Unlock()
	l.mu.Lock()
	now := time.Now()
	old, there := l.reservations.all[r.Name]
	r.Made = now
	if there {
		r.keep(&old, o.Lasts)
	} else if r.Until.IsZero() && o.Lasts > 0 && !r.From.IsZero() {
		r.Until = r.From.Add(o.Lasts)
	}
	over, err := l.checkReservation(&r, o, now)
	l.mu.Unlock()
	if err != nil || o.DryRun {
		return r, over, err
	}
	entry := AuditEntry{Who: r.By, From: o.From, What: "reserve", Subject: r.Name, New: r.text(), Note: r.Reason}
	if there {
		entry.Old = old.text()
	}
	text, err := json.Marshal(r)
	if err != nil {
		return r, over, err
	}
	if err := l.record(ctx, []AuditEntry{entry}, map[string]string{reservationSetting + r.Name: string(text)}); err != nil {
		return r, over, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reservations.all[r.Name] = r
	l.enforceReservations(now)
	return r, over, nil
}

// keep takes over from an earlier reservation what is not given anew.
func (r *Reservation) keep(old *Reservation, lasts time.Duration) {
	length := cmp.Or(lasts, old.Until.Sub(old.From))
	switch {
	case r.From.IsZero() && lasts > 0:
		r.From, r.Until = old.From, old.From.Add(lasts)
	case r.From.IsZero() && r.Until.IsZero():
		r.From, r.Until = old.From, old.Until
	case r.From.IsZero():
		r.From = old.From
	case r.Until.IsZero():
		r.Until = r.From.Add(length)
	}
	if len(r.Nodes) == 0 {
		r.Nodes = old.Nodes
	}
	if !r.Maintenance && len(r.Pools)+len(r.Users) == 0 {
		r.Maintenance, r.Pools, r.Users = old.Maintenance, old.Pools, old.Users
	}
	r.Reason, r.Made = cmp.Or(r.Reason, old.Reason), old.Made
}

// Unreserve ends a reservation before its time.
func (l *Loop) Unreserve(ctx context.Context, name, by, from string) (Reservation, error) {
	l.reservations.changing.Lock()
	defer l.reservations.changing.Unlock()
	l.mu.Lock()
	r, there := l.reservations.all[name]
	l.mu.Unlock()
	if !there {
		return r, missing("no reservation %q; see fairlead reserve", name)
	}
	if err := l.dropReservation(ctx, r, AuditEntry{Who: by, From: from, What: "unreserve"}); err != nil {
		return r, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.reservations.all, name)
	l.enforceReservations(time.Now())
	return r, nil
}

func (l *Loop) dropReservation(ctx context.Context, r Reservation, entry AuditEntry) error {
	entry.Subject, entry.Old = r.Name, r.text()
	return l.record(ctx, []AuditEntry{entry}, map[string]string{reservationSetting + r.Name: ""})
}

// Reservations lists those that are not over, by their beginning.
func (l *Loop) Reservations() []Reservation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reservationsAt(time.Now())
}

func (l *Loop) reservationsAt(now time.Time) []Reservation {
	out := []Reservation{}
	for _, r := range l.reservations.all {
		if r.Until.After(now) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Reservation) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Name, b.Name)) })
	return out
}

// enforceReservations tells the core of the windows.
func (l *Loop) enforceReservations(now time.Time) {
	l.core.SetWindows(l.windowsAt(now), now)
	l.version++
	l.poke()
}

func (l *Loop) windowsAt(now time.Time) []cluster.Window {
	var all []cluster.Window
	for _, r := range l.reservationsAt(now) {
		all = append(all, cluster.Window{Name: r.Name, Nodes: r.Nodes, From: r.From.UnixNano(), To: r.Until.UnixNano(), Closed: r.Maintenance})
	}
	return all
}

// loadReservations reads those that were made before.
func (l *Loop) loadReservations(settings map[string]string) error {
	kept, err := keptBelow[Reservation](settings, reservationSetting)
	maps.Copy(l.reservations.all, kept)
	return err
}

// endReservations forgets those that are over. If that fails they end once more later.
func (l *Loop) endReservations(ctx context.Context) {
	if !l.reservations.changing.TryLock() {
		return // one is being changed
	}
	defer l.reservations.changing.Unlock()
	now := time.Now()
	l.mu.Lock()
	var over []Reservation
	for _, r := range l.reservations.all {
		if !r.Until.After(now) {
			over = append(over, r)
		}
	}
	others := l.othersRecord()
	l.mu.Unlock()
	if others {
		return // one of the servers records it for all
	}
	for _, r := range over {
		err := l.dropReservation(ctx, r, AuditEntry{Who: cmp.Or(r.By, "fairlead"), From: "scheduler", What: "reservation ended"})
		if err != nil {
			if ctx.Err() == nil {
				l.log.Warn("the end of a reservation could not be recorded", "reservation", r.Name, "error", err)
			}
			continue
		}
		l.mu.Lock()
		delete(l.reservations.all, r.Name)
		l.mu.Unlock()
	}
}

// text says what a reservation keeps, for the record.
func (r *Reservation) text() string {
	what := r.who()
	return fmt.Sprintf("%s on %s from %s until %s", what, strings.Join(r.Nodes, ","), r.From.UTC().Format(time.RFC3339), r.Until.UTC().Format(time.RFC3339))
}

// who says for whom it is.
func (r *Reservation) who() string {
	if r.Maintenance {
		return "maintenance"
	}
	var parts []string
	if len(r.Pools) > 0 {
		parts = append(parts, "pool "+strings.Join(r.Pools, ","))
	}
	if len(r.Users) > 0 {
		parts = append(parts, "user "+strings.Join(r.Users, ","))
	}
	return "for " + strings.Join(parts, ", ")
}

// lets reports whether a job may use the reservation.
func (r *Reservation) lets(j *Job) bool {
	return !r.Maintenance && (slices.Contains(r.Users, j.User) ||
		slices.ContainsFunc(r.Pools, func(p string) bool { return share.Inside(j.Pool, p) }))
}

// checkWindow refuses a job that asks for a reservation that is not there, is not for it or
// is too short for it.
func (l *Loop) checkWindow(j *Job) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.checkWindowHeld(j)
}

// checkWindowHeld is checkWindow for a caller that holds mu.
func (l *Loop) checkWindowHeld(j *Job) error {
	if j.Reservation == "" {
		return nil
	}
	r, there := l.reservations.all[j.Reservation]
	long := r.Until.Sub(r.From)
	switch {
	case !there || !r.Until.After(time.Now()):
		return invalid("reservation", "there is no reservation %q; see those there are with: fairlead reserve", j.Reservation)
	case r.Maintenance:
		return invalid("reservation", "%s is a maintenance, in which no job runs", r.Name)
	case !r.lets(j):
		return refusal(fmt.Sprintf("reservation %s is %s, and not for %s in %s: ask the administrator, or submit without --reservation", r.Name, r.who(), j.User, j.Pool))
	case j.Limit == 0:
		return invalid("reservation", "a job without a time limit does not fit into the reservation %s; submit it with -t %s or less", r.Name, units.FormatDuration(long))
	case j.Limit > long:
		return invalid("reservation", "the time limit of %s does not fit into the reservation %s, which lasts %s; submit it with -t %s or less",
			units.FormatDuration(j.Limit), r.Name, units.FormatDuration(long), units.FormatDuration(long))
	}
	return nil
}
