package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// Reservation keeps nodes for a time: for jobs of some users and pools that request it or, as a maintenance, for
// nobody.
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

// keep copies the fields of an earlier reservation that are not set.
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

// text describes a reservation for the audit record.
func (r *Reservation) text() string {
	what := r.who()
	return fmt.Sprintf("%s on %s from %s until %s", what, strings.Join(r.Nodes, ","), instant.Text(r.From),
		instant.Text(r.Until))
}

// who says who may use the reservation.
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
func (r *Reservation) lets(j *queue.Job) bool {
	return !r.Maintenance && (slices.Contains(r.Users, j.User) ||
		slices.ContainsFunc(r.Pools, func(p string) bool { return share.Inside(j.Pool, p) }))
}

// refusal is an [queue.ErrForbidden] with a complete message.
type refusal string

func (r refusal) Error() string { return string(r) }

// Is makes errors.Is(err, ErrForbidden) true.
func (r refusal) Is(target error) bool { return target == queue.ErrForbidden }
