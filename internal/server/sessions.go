package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

// How long a browser's session and the code that begins it last, and how many a user may have.
const (
	sessionLasts = 12 * time.Hour
	sessionIdle  = 2 * time.Hour
	linkLasts    = time.Minute
	sessionsEach = 16
	linksEach    = 8
	// adminLasts is how long a session may change things as an administrator. A browser shows its cookie to every port
	// of the machine, and so to other users who listen on one.
	adminLasts = 15 * time.Minute
)

// browsers are the sessions of browsers. They are kept in memory only: whoever got hold of one
// while the server was away, by listening in its place, has nothing when it is back.
type browsers struct {
	mu       sync.Mutex
	links    map[secret]*link
	sessions map[secret]*browser
}

// secret is the hash of what somebody shows. What is shown is not kept.
type secret [sha256.Size]byte

// link is a code that begins a session, once.
type link struct {
	uid   int
	until time.Time
	admin bool // the session may change things as an administrator, for some time
}

// browser is a session of one.
type browser struct {
	uid   int
	until time.Time
	admin time.Time // until then it may change things as an administrator
	used  time.Time
	busy  int             // requests that go on
	ctx   context.Context // ends with the session
	end   context.CancelFunc
}

func newBrowsers() *browsers {
	return &browsers{links: map[secret]*link{}, sessions: map[secret]*browser{}}
}

// draw makes a secret and the text that stands for it.
func draw() (text string, s secret) {
	var b [32]byte
	rand.Read(b[:])
	text = base64.RawURLEncoding.EncodeToString(b[:])
	return text, sha256.Sum256([]byte(text))
}

// invite makes a code that begins a session of a user, once, within some time. Of too many codes
// of one user, the one that would end first is forgotten.
func (x *browsers) invite(uid int, lasts time.Duration, admin bool) (code string, until time.Time) {
	code, s := draw()
	until = time.Now().Add(lasts)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tidy()
	first, n := secret{}, 0
	for k, l := range x.links {
		if l.uid == uid {
			if n++; n == 1 || l.until.Before(x.links[first].until) {
				first = k
			}
		}
	}
	if n >= linksEach {
		delete(x.links, first)
	}
	x.links[s] = &link{uid, until, admin}
	return code, until
}

// begin begins a session for a code.
func (x *browsers) begin(code string) (shown string, uid int, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tidy()
	s := secret(sha256.Sum256([]byte(code)))
	l := x.links[s]
	if l == nil {
		return "", -1, false
	}
	delete(x.links, s)
	oldest, n := secret{}, 0
	for k, b := range x.sessions {
		if b.uid == l.uid {
			if n++; n == 1 || b.used.Before(x.sessions[oldest].used) {
				oldest = k
			}
		}
	}
	if n >= sessionsEach {
		x.drop(oldest)
	}
	shown, s = draw()
	now := time.Now()
	b := &browser{uid: l.uid, until: now.Add(sessionLasts), used: now}
	if l.admin {
		b.admin = now.Add(adminLasts)
	}
	b.ctx, b.end = context.WithDeadline(context.Background(), b.until)
	x.sessions[s] = b
	return shown, l.uid, true
}

// use is the session that belongs to what a browser shows, for one request; nil if there is none.
// The caller calls done when the request has ended.
func (x *browsers) use(shown string) (b *browser, done func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tidy()
	if b = x.sessions[sha256.Sum256([]byte(shown))]; b == nil {
		return nil, nil
	}
	b.used = time.Now()
	b.busy++
	return b, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		b.used = time.Now()
		b.busy--
	}
}

// end ends the session that a browser shows.
func (x *browsers) end(shown string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(sha256.Sum256([]byte(shown)))
}

// endAll ends all sessions of a user, and forgets the codes.
func (x *browsers) endAll(uid int) (ended int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tidy()
	for s, l := range x.links {
		if l.uid == uid {
			delete(x.links, s)
		}
	}
	for s, b := range x.sessions {
		if b.uid == uid {
			x.drop(s)
			ended++
		}
	}
	return ended
}

// drop ends a session, with the requests that go on in it. The caller holds the lock.
func (x *browsers) drop(s secret) {
	if b := x.sessions[s]; b != nil {
		b.end()
		delete(x.sessions, s)
	}
}

// tidy forgets sessions that are over. The caller holds the lock.
func (x *browsers) tidy() {
	now := time.Now()
	for s, l := range x.links {
		if !now.Before(l.until) {
			delete(x.links, s)
		}
	}
	for s, b := range x.sessions {
		if !now.Before(b.until) || b.busy == 0 && now.Sub(b.used) >= sessionIdle {
			x.drop(s)
		}
	}
}
