package fairlead

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// Pause keeps what waits in a pool, and in those below it, from starting. What runs goes on,
// and jobs may be submitted.
type Pause struct {
	Pool  string    `json:"pool"`
	Began time.Time `json:"began"`
	// Until is when it ends by itself; zero if only [Loop.Resume] ends it.
	Until  time.Time `json:"until,omitzero"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// pauseSetting is the key prefix under which pauses are kept.
const pauseSetting = "pause/"

// Pause puts a pause into force: p names the pool, or a user for the user's pool, until when,
// by whom and why. That of a pool that is paused already takes the place of the one before.
// from says by which way it was asked for.
func (l *Loop) Pause(ctx context.Context, p Pause, from string) (Pause, error) {
	now := time.Now()
	if !p.Until.IsZero() && !p.Until.After(now) {
		return p, invalid("until", "%s is over already", p.Until.Format(time.RFC3339))
	}
	if err := checkText("reason", p.Reason, MaxName); err != nil {
		return p, err
	}
	if err := l.sync(ctx); err != nil {
		return p, err
	}
	l.mu.Lock()
	id, err := l.findPool(p.Pool)
	if err == nil && id == sched.Root {
		err = invalid("pool", "everything cannot be paused at once; pause its pools, or let the nodes take nothing new with: fairlead drain NODE")
	}
	if err != nil {
		l.mu.Unlock()
		return p, err
	}
	p.Pool, p.Began = l.core.Path(id), now
	entry := AuditEntry{Who: p.By, From: from, What: "pause", Subject: p.Pool, New: p.text(), Note: p.Reason}
	if before, paused := l.pauses[p.Pool]; paused {
		p.Began, entry.Old = before.Began, before.text()
	}
	l.mu.Unlock()
	text, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	if err := l.record(ctx, []AuditEntry{entry}, map[string]string{pauseSetting + p.Pool: string(text)}); err != nil {
		return p, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pauses[p.Pool] = p
	l.core.Pause(p.core(), time.Now())
	l.version++
	l.poke()
	return p, nil
}

// Resume lets a paused pool start again what waits in it. It returns the pause that was in
// force.
func (l *Loop) Resume(ctx context.Context, pool, by, from string) (Pause, error) {
	l.mu.Lock()
	p, paused := l.pauses[pool]
	if id, err := l.findPool(pool); !paused && err == nil {
		p, paused = l.pauses[l.core.Path(id)]
		if above, of := l.core.PauseOf(id); of && !paused {
			l.mu.Unlock()
			return p, missing("%s itself is not paused, but %s above it is: fairlead resume %[2]s", l.core.Path(id), above.Pool)
		}
	}
	l.mu.Unlock()
	if !paused {
		return p, missing("no pool %.256q is paused; see fairlead pause --list", pool)
	}
	entry := AuditEntry{Who: by, From: from, What: "resume", Subject: p.Pool, Old: p.text()}
	if err := l.dropPause(ctx, p, entry); err != nil {
		return p, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pauses, p.Pool)
	l.core.Resume(p.Pool, time.Now())
	l.version++
	l.poke()
	return p, nil
}

// Pauses lists the pauses in force, by pool.
func (l *Loop) Pauses() []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Advance(time.Now())
	out := []Pause{}
	for _, p := range l.core.Pauses() {
		out = append(out, l.pauses[p.Pool])
	}
	return out
}

// pauseOf is the pause that holds a pool, its own or that of one above; nil if none does.
func (l *Loop) pauseOf(id sched.PoolID) *Pause {
	x, paused := l.core.PauseOf(id)
	if !paused {
		return nil
	}
	p := l.pauses[x.Pool]
	return &p
}

func (p *Pause) core() sched.Pause {
	return sched.Pause{Pool: p.Pool, Since: p.Began, Until: p.Until, Note: note(p.By, p.Reason)}
}

// text says how long a pause lasts.
func (p *Pause) text() string {
	if p.Until.IsZero() {
		return "until it is resumed"
	}
	return "until " + p.Until.UTC().Format(time.RFC3339)
}

func (l *Loop) dropPause(ctx context.Context, p Pause, entry AuditEntry) error {
	return l.record(ctx, []AuditEntry{entry}, map[string]string{pauseSetting + p.Pool: ""})
}

// loadPauses reads the pauses that were in force.
func (l *Loop) loadPauses(settings map[string]string) error {
	kept, err := keptBelow[Pause](settings, pauseSetting)
	maps.Copy(l.pauses, kept)
	return err
}

// repause tells a new core of the pauses.
func (l *Loop) repause(now time.Time) {
	for _, pool := range slices.Sorted(maps.Keys(l.pauses)) {
		p := l.pauses[pool]
		l.core.Pause(p.core(), now)
	}
}

// takePauses takes over the pauses that others made and ended.
func (l *Loop) takePauses(settings map[string]string, now time.Time) error {
	before := l.pauses
	l.pauses = map[string]Pause{}
	if err := l.loadPauses(settings); err != nil {
		l.pauses = before
		return err
	}
	for pool := range before {
		if _, still := l.pauses[pool]; !still {
			l.core.Resume(pool, now)
		}
	}
	l.repause(now)
	return nil
}

// endPauses forgets the pauses that ended by themselves. If that fails they end once more
// after a restart.
func (l *Loop) endPauses(ctx context.Context) {
	l.mu.Lock()
	var over []Pause
	for _, c := range l.core.EndedPauses() {
		if p, there := l.pauses[c.Pool]; there && p.Until.Equal(c.Until) {
			over = append(over, p)
			delete(l.pauses, c.Pool)
		}
	}
	others := l.othersRecord()
	l.mu.Unlock()
	if others {
		return // one of the servers records it for all
	}
	for _, p := range over {
		err := l.dropPause(ctx, p, AuditEntry{Who: cmp.Or(p.By, "fairlead"), From: "scheduler", What: "pause ended", Subject: p.Pool, Old: p.text()})
		if err != nil && ctx.Err() == nil {
			l.log.Warn("the end of a pause could not be recorded", "pool", p.Pool, "error", err)
		}
	}
}

// ownPause reports whether a pool itself is paused.
func (l *Loop) ownPause(id sched.PoolID) bool {
	p, paused := l.core.PauseOf(id)
	return paused && p.Pool == l.core.Path(id)
}
