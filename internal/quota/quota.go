// Package quota divides a bounded number of things of a server, such as open streams,
// between users: nobody takes all of it, and the last part is kept for administrators.
package quota

import (
	"errors"
	"sync"
)

// Why nothing was given.
var (
	ErrUser = errors.New("this user has as many as one user may have")
	ErrAll  = errors.New("all are in use")
)

// Quota counts what users have.
type Quota struct {
	All      int // of everybody together
	Reserved int // of these, for administrators
	User     int // of one user who is none

	mu   sync.Mutex
	held int
	by   map[int]int
}

// Take gives one to a user. Administrators are bounded by what there is.
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

// Give takes one back.
func (q *Quota) Give(uid int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held--
	if q.by[uid]--; q.by[uid] <= 0 {
		delete(q.by, uid)
	}
}

// Held is how many are given.
func (q *Quota) Held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}
