package server

import (
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// How long the server trusts what the system said about a user, and how long it waits before it asks again after the
// system failed to answer.
const (
	nameLasts    = time.Minute
	nameTryAgain = 5 * time.Second
	nameWait     = time.Second // how long a request waits for an update of a known user
	maxNames     = 10_000
)

// names maps user numbers to users. The system may ask a directory service, which may take long. So names asks once for
// all requests, and requests of an already known user wait only a second for the answer.
type names struct {
	look func(uid int) (name string, groups []string, err error)
	uid  func(name string) (uid int, err error)

	mu    sync.Mutex
	known map[int]*userName
	uids  map[string]uidOf
}

// uidOf is the system's number of a user, or the error if it has none.
type uidOf struct {
	uid   int
	err   error
	until time.Time
}

// userName is a user as the system reported it.
type userName struct {
	name    string
	groups  []string // all of them, the primary one first
	err     error    // why nothing is known yet
	until   time.Time
	looked  chan struct{} // closed after the first look-up
	looking bool
	since   time.Time     // when the current look-up began
	again   chan struct{} // closed when it ends
}

func newNames() *names {
	return &names{look: lookUser, uid: lookUID, known: map[int]*userName{}, uids: map[string]uidOf{}}
}

// of returns the name of a user and all of its groups, the primary one first. While the system cannot identify a user
// whom it never named before, the error is a [queue.ErrUnavailable]. Under a made-up name the user would own jobs that
// later belong to somebody else.
func (n *names) of(uid int) (name string, groups []string, err error) {
	n.mu.Lock()
	u := n.known[uid]
	if u == nil {
		if len(n.known) >= maxNames {
			clear(n.known)
		}
		u = &userName{looked: make(chan struct{})}
		n.known[uid] = u
	}
	now := time.Now()
	if !u.looking && !now.Before(u.until) {
		u.looking, u.since, u.again = true, now, make(chan struct{})
		go n.ask(uid, u)
	}
	again, left := u.again, nameWait-now.Sub(u.since)
	if !u.looking {
		left = 0
	}
	n.mu.Unlock()
	<-u.looked
	if left > 0 { // wait for an update: the user may have left a group
		select {
		case <-again:
		case <-time.After(left):
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return u.name, u.groups, u.err
}

// groupsOf returns the groups of a user by name; a user whom the system does not know has none. If the system does not
// answer, the error is that of [names.of].
func (n *names) groupsOf(name string) ([]string, error) {
	uid, err := n.number(name)
	if errors.As(err, new(user.UnknownUserError)) {
		return nil, nil
	}
	if err != nil {
		return nil, unansweredError{fmt.Sprintf("user %.80q", name), err}
	}
	_, groups, err := n.of(uid)
	return groups, err
}

// unansweredError says that the system did not answer the look-up of a user. It is a [queue.ErrUnavailable] with its
// own text: clients try again, and agents keep their running tasks.
type unansweredError struct {
	who string
	err error
}

func (e unansweredError) Error() string {
	return fmt.Sprintf("the system cannot look up %s, try again soon: %v", e.who, e.err)
}

// Is makes errors.Is(err, queue.ErrUnavailable) true.
func (e unansweredError) Is(target error) bool { return target == queue.ErrUnavailable }

// number returns the number of a user.
func (n *names) number(name string) (int, error) {
	n.mu.Lock()
	u, asked := n.uids[name]
	n.mu.Unlock()
	if !asked || !time.Now().Before(u.until) {
		u = n.askNumber(name)
	}
	return u.uid, u.err
}

// askNumber asks the system for the number of a user.
func (n *names) askNumber(name string) (u uidOf) {
	u.uid, u.err = n.uid(name)
	u.until = time.Now().Add(nameLasts)
	if unknown := user.UnknownUserError(""); u.err != nil && !errors.As(u.err, &unknown) {
		u.until = time.Now().Add(nameTryAgain)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.uids) >= maxNames {
		clear(n.uids)
	}
	n.uids[name] = u
	return u
}

// ask looks up a user in the system. If that fails, the known name stays.
func (n *names) ask(uid int, u *userName) {
	name, groups, err := n.look(uid)
	nameless := numbered(uid)
	if errors.As(err, new(user.UnknownUserIdError)) {
		if _, none := n.uid(nameless); !errors.As(none, new(user.UnknownUserError)) {
			nameless = fmt.Sprint("uid:", uid) // an account may have the name uidNUMBER; no account name has a colon
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	u.looking, u.until = false, time.Now().Add(nameLasts)
	defer close(u.again)
	if err == nil {
		u.name, u.groups, u.err = name, groups, nil
	} else if errors.As(err, new(user.UnknownUserIdError)) {
		u.name, u.groups, u.err = nameless, nil, nil
	} else {
		u.until = time.Now().Add(nameTryAgain)
		if u.name == "" {
			u.err = unansweredError{fmt.Sprint("uid ", uid), err}
		}
	}
	select {
	case <-u.looked:
	default:
		close(u.looked)
	}
}

// numbered returns the name for a user whom the system does not know.
func numbered(uid int) string { return fmt.Sprint("uid", uid) }

func lookUID(name string) (int, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(u.Uid)
}

func lookUser(uid int) (name string, groups []string, err error) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return "", nil, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		ids = nil // the primary group is still known
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == u.Gid })
	for _, id := range append([]string{u.Gid}, ids...) {
		if g, err := user.LookupGroupId(id); err == nil {
			groups = append(groups, g.Name)
		} else if id == u.Gid {
			groups = append(groups, "") // no other group may take the place of the primary one
		}
	}
	return u.Username, groups, nil
}
