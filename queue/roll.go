package queue

import (
	"context"
	"time"
)

// Peers is a store that several servers share; each schedules its own work.
type Peers interface {
	// Announce says that a server is there, for ttl from now, and with which nodes. It returns
	// the others that are there. [ErrTaken] is returned, and the nodes are not announced, if
	// another one has announced a node of the same name that is up.
	Announce(ctx context.Context, s Server, ttl time.Duration) (Roll, error)
	// Servers returns the servers that are there.
	Servers(ctx context.Context) ([]Server, error)
	// Retire says that a server is there no more.
	Retire(ctx context.Context, name string) error
	// Recheck reads the waiting tasks of jobs at one instant: a Waited for each that has tasks that
	// wait and may be leased. The cursor is that after the changes made before that instant.
	Recheck(ctx context.Context, jobs []int64) (waits []Change, cursor int64, err error)
}

// Server is one of several that share a store.
type Server struct {
	Name    string
	Address string `json:",omitempty"` // where clients reach it
	Nodes   []ServedNode
	Seen    time.Time
}

// ServedNode is a node of a server.
type ServedNode struct {
	Name     string
	State    string // up, drain, down, maintenance
	Why      string `json:",omitempty"`
	Capacity Amounts
	Labels   map[string]string `json:",omitempty"`
	Version  string            `json:",omitempty"`
	Host     string            `json:",omitempty"`
	Seen     time.Time
}

// Roll is what one of several servers hears of the others.
type Roll struct {
	Others []Server // that are there
	// Stops is set for the one of them that stops tasks so that others get their room.
	Stops bool
}

// Sharer is a store that several loops may use at once, in whichever processes.
type Sharer interface {
	// Shared reports whether they may: the limits that one of them keeps do not bind the
	// others, so that the store has to keep them.
	Shared() bool
}
