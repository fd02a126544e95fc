package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

// How long the session of a browser and the code that begins it last, and how many a user may have.
const (
	sessionLasts = 12 * time.Hour
	sessionIdle  = 2 * time.Hour
	linkLasts    = time.Minute
	sessionsEach = 16
	linksEach    = 8
	// adminLasts is how long a session may change things as an administrator. A browser sends its cookie to every port
	// of the machine, and so to other users who listen on one.
	adminLasts = 15 * time.Minute
)

// browsers holds the sessions of browsers, in memory only. So an attacker who listens in place of the server while it
// is down, and gets a session, can do nothing with it once the server is back.
type browsers struct {
	mu       sync.Mutex
	links    map[secret]*link
	sessions map[secret]*browser
}

// secret is the hash of the text that a browser presents. The server does not keep the text.
type secret [sha256.Size]byte

// link is a code that begins one session.
type link struct {
	uid   int
	until time.Time
	admin bool // the session may change things as an administrator for some time
}

// browser is the session of a browser.
type browser struct {
	uid   int
	until time.Time
	admin time.Time // before this instant the session may change things as an administrator
	used  time.Time
	busy  int             // unfinished requests
	ctx   context.Context // ends with the session
	end   context.CancelFunc
}

func newBrowsers() *browsers {
	return &browsers{links: map[secret]*link{}, sessions: map[secret]*browser{}}
}

// draw makes a random text and its secret.
func draw() (text string, s secret) {
	var b [32]byte
	rand.Read(b[:])
	text = base64.RawURLEncoding.EncodeToString(b[:])
	return text, sha256.Sum256([]byte(text))
}

// invite makes a code that begins a session of a user, once, within the time "lasts". If a user has too many codes, it
// drops the one that would expire first.
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

// begin exchanges a code for a session.
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

// use returns the session of the text that a browser presents, for one request, or nil. The caller calls the returned
// function when the request has ended.
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

// end ends the session that a browser presents.
func (x *browsers) end(shown string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop(sha256.Sum256([]byte(shown)))
}

// endAll ends all sessions of a user, and deletes the codes.
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

// drop ends a session and its unfinished requests. The caller holds the lock.
func (x *browsers) drop(s secret) {
	if b := x.sessions[s]; b != nil {
		b.end()
		delete(x.sessions, s)
	}
}

// tidy removes expired sessions. The caller holds the lock.
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
