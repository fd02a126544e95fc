package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// inForce holds the current overrides of administrators, with a field for each kind of [override].
type inForce struct {
	drained      map[string]Drain  // by node
	bridges      map[string]string // node -> kind of its bridge
	boosts       map[string]Boost  // by number
	lastBoost    int64             // the last number in use
	Pauses       map[string]Pause  // by pool
	reservations map[string]Reservation
}

func newInForce() inForce {
	return inForce{
		drained: map[string]Drain{}, bridges: map[string]string{}, boosts: map[string]Boost{},
		Pauses: map[string]Pause{}, reservations: map[string]Reservation{},
	}
}

// Boost raises or lowers the weight of a pool until an instant or until the pool has received some service.
type Boost struct {
	ID     int64     `json:"id"`
	Pool   string    `json:"pool"`
	Factor float64   `json:"factor"`
	Began  time.Time `json:"began"`
	// Until is when the boost ends at the latest; zero if only usage ends it.
	Until time.Time `json:"until,omitzero"`
	// Usage is the service in slot-seconds, received since the boost began, after which it ends; 0 if only time ends
	// it.
	Usage float64 `json:"usage,omitempty"`
	// Had is how much of that the pool has received so far.
	Had     float64 `json:"had"`
	By      string  `json:"by,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Starter bool    `json:"starter,omitempty"` // of a new pool, by the configuration

	// Base is the total service of the pool when the boost began. The present total less Base is the same before and
	// after a restart.
	Base float64 `json:"base,omitempty"`
}

// BoostOf adds the user and the reason to a boost of the core.
func (f *inForce) BoostOf(c sched.Boost) Boost {
	b, there := f.boosts[fmt.Sprint(c.ID)]
	if !there {
		b = Boost{Pool: c.Pool, Factor: c.Factor, Until: c.Until, Usage: c.Usage, Starter: c.Starter}
	}
	b.Had, b.Base = c.Had, 0
	return b
}

func (b *Boost) key() string { return fmt.Sprint(b.ID) }

func (b *Boost) core() sched.Boost {
	return sched.Boost{ID: b.ID, Pool: b.Pool, Factor: b.Factor, Until: b.Until, Usage: b.Usage, Had: b.Had,
		Note: note(b.By, b.Reason)}
}

// note describes the user and the reason of an override.
func note(by, reason string) string {
	text := ""
	if by != "" {
		text = "by " + by
	}
	if reason != "" {
		text = strings.TrimPrefix(text+": "+reason, ": ")
	}
	return text
}

// Pause keeps the waiting tasks of a pool, and of the pools below it, from starting. Running tasks continue,
// and jobs may be submitted.
type Pause struct {
	Pool  string    `json:"pool"`
	Began time.Time `json:"began"`
	// Until is when the pause ends by itself; zero if only [Overrides.Resume] ends it.
	Until  time.Time `json:"until,omitzero"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// Drain returns a copy of the drain of a node; nil if the node is not drained.
func (f *inForce) Drain(node string) *Drain {
	if d, is := f.drained[node]; is {
		return &d
	}
	return nil
}

func (f *inForce) reservationsAt(now time.Time) []Reservation {
	out := []Reservation{}
	for _, r := range f.reservations {
		if r.Until.After(now) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Reservation) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Name, b.Name)) })
	return out
}

// windowsAt returns the reservations in the form of the core.
func (f *inForce) windowsAt(now time.Time) []cluster.Window {
	var all []cluster.Window
	for _, r := range f.reservationsAt(now) {
		all = append(all, cluster.Window{Name: r.Name, Nodes: r.Nodes, From: r.From.UnixNano(), To: r.Until.UnixNano(),
			Closed: r.Maintenance})
	}
	return all
}
