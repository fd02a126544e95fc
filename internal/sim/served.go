package sim

import (
	"math"

	"github.com/fairlead/fairlead/usage"
)

// day is how many seconds a day has.
const day = 24 * 60 * 60

// served adds up, for each user and day, the entitlement and the part of it that the user received. Service
// beyond the entitlement makes up for a lack on the same day, and on no other.
//
// The entitlement comes from the ideal fluid scheduler, by the user's demand at that moment, as far as the
// demand can be served. For if a user has only jobs of 64 processors, only 64 of 100 processors can be in use
// at a time.
type served struct {
	next  int64        // second at which the day ends
	marks []usage.Sums // by user, at the start of the day
	users []servedUser
}

type servedUser struct{ entitled, had float64 }

func newServed(from int64, users int) served {
	return served{next: from + day, marks: make([]usage.Sums, users), users: make([]servedUser, users)}
}

// turn ends a day.
func (s *served) turn(fair *usage.Fairness, claims []claim) {
	now := make([]usage.Sums, len(s.marks))
	for n, c := range claims {
		t := fair.Total(n)
		now[c.user].Ideal += t.Ideal
		now[c.user].Received += t.Received
	}
	for i := range now {
		due, had := now[i].Ideal-s.marks[i].Ideal, now[i].Received-s.marks[i].Received
		s.users[i].entitled += due
		s.users[i].had += math.Min(due, had)
	}
	s.marks = now
	s.next += day
}

// ratio returns the received part of a user's entitlement, or 1 without an entitlement.
func (u *servedUser) ratio() float64 {
	if u.entitled <= 0 {
		return 1
	}
	return math.Max(0, u.had/u.entitled)
}
