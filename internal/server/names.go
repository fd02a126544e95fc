package server

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"sync"
	"time"
)

// How long the server believes what the system told about a user, and how long it waits before it
// asks again after the system could not tell.
const (
	nameLasts    = time.Minute
	nameTryAgain = 5 * time.Second
	mostNames    = 10_000
)

// names knows users by their numbers. The system may ask a directory service about a user, which
// takes as long as that takes; so it is asked once for all requests, and a user who is known
// already does not wait for it.
type names struct {
	look func(uid int) (name, group string, err error)

	mu    sync.Mutex
	known map[int]*userName
}

// userName is a user as the system knows it.
type userName struct {
	name, group string
	until       time.Time
	looked      chan struct{} // closed when it was looked up for the first time
	looking     bool
}

func newNames() *names { return &names{look: lookUser, known: map[int]*userName{}} }

// of is the name of a user and of the user's primary group.
func (n *names) of(uid int) (name, group string) {
	n.mu.Lock()
	u := n.known[uid]
	if u == nil {
		if len(n.known) >= mostNames {
			clear(n.known)
		}
		u = &userName{name: numbered(uid), looked: make(chan struct{})}
		n.known[uid] = u
	}
	if !u.looking && !time.Now().Before(u.until) {
		u.looking = true
		go n.ask(uid, u)
	}
	n.mu.Unlock()
	<-u.looked
	n.mu.Lock()
	defer n.mu.Unlock()
	return u.name, u.group
}

// ask asks the system. If that fails, what was known stays.
func (n *names) ask(uid int, u *userName) {
	name, group, err := n.look(uid)
	n.mu.Lock()
	defer n.mu.Unlock()
	u.looking, u.until = false, time.Now().Add(nameLasts)
	if err == nil {
		u.name, u.group = name, group
	} else if unknown := user.UnknownUserIdError(0); errors.As(err, &unknown) {
		u.name, u.group = numbered(uid), ""
	} else {
		u.until = time.Now().Add(nameTryAgain)
	}
	select {
	case <-u.looked:
	default:
		close(u.looked)
	}
}

// numbered names a user whom the system does not know.
func numbered(uid int) string { return fmt.Sprint("uid", uid) }

func lookUser(uid int) (name, group string, err error) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return "", "", err
	}
	if g, err := user.LookupGroupId(u.Gid); err == nil {
		group = g.Name
	}
	return u.Username, group, nil
}
