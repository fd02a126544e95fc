package queue

import (
	"context"
	"time"
)

// Peers is a store that several servers share; each server schedules its own work.
type Peers interface {
	// Announce registers a server with its nodes, for ttl from now, and returns the other servers that are present. It
	// returns [ErrTaken], and registers no nodes, if another server has announced a node of the same name that is up.
	Announce(ctx context.Context, s Server, ttl time.Duration) (Roll, error)
	// Servers returns the servers that are present.
	Servers(ctx context.Context) ([]Server, error)
	// Retire removes a server.
	Retire(ctx context.Context, name string) error
	// Recheck reads the waiting tasks of jobs at one instant. It returns a Waited for each job with waiting tasks that
	// may be leased, and the cursor after the changes made before that instant.
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

// Roll is what a server learns about its peers when it announces itself.
type Roll struct {
	Others []Server // the other servers that are present
	// Stops is set for the one server that stops tasks to make room for others.
	Stops bool
}

// Sharer is a store that several engines may use at once, in the same or in different processes.
type Sharer interface {
	// Shared reports whether several engines may use the store. If they may, the store must enforce limits itself,
	// because a limit that one engine keeps does not bind the others.
	Shared() bool
}
