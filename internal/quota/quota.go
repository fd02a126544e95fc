// Package quota divides a limited number of a server's resources, such as open streams, between users. No
// user can take all of them, and the last part is reserved for administrators.
package quota

import (
	"errors"
	"sync"
)

// Reasons of a refusal.
var (
	ErrUser = errors.New("this user has reached the limit for one user")
	ErrAll  = errors.New("the limit for all users together is reached")
)

// Quota counts the resources that users hold.
type Quota struct {
	All      int // for all users together
	Reserved int // of these, for administrators
	User     int // for one user, except administrators

	mu   sync.Mutex
	held int
	by   map[int]int
}

// Take gives a resource to a user. For administrators, only All is the limit.
func (q *Quota) Take(uid int, admin bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !admin && q.by[uid] >= q.User:
		return ErrUser
	case q.held >= q.All, !admin && q.held >= q.All-q.Reserved:
		return ErrAll
	}
	if q.by == nil {
		q.by = map[int]int{}
	}
	q.held++
	q.by[uid]++
	return nil
}

// Give takes a resource back from a user.
func (q *Quota) Give(uid int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held--
	if q.by[uid]--; q.by[uid] <= 0 {
		delete(q.by, uid)
	}
}

// Held returns how many resources are in use.
func (q *Quota) Held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}
