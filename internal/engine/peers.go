package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
)

// peers connects an engine with the other servers of its store.
type peers struct {
	*base
	troubles *troubles
	store    queue.Peers // nil: there are none
	name     string
	// sending is held during an announcement.
	sending sync.Mutex
}

// The interval of a server's heartbeats, and how long each one counts.
const (
	announceEvery = time.Second
	announceHolds = 5 * time.Second
)

var loops atomic.Int64

// newPeers prepares for other servers, if the store supports them.
func newPeers(b *base, t *troubles) *peers {
	p := &peers{base: b, troubles: t, name: b.Options.Name}
	p.store, _ = b.Store.(queue.Peers)
	if p.name == "" {
		p.name = fmt.Sprintf("%s-%d", ProcessName(), loops.Add(1))
	}
	return p
}

// ProcessName returns the host name with the process number.
func ProcessName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "local"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// announcing sends heartbeats of this server until ctx ends.
func (p *peers) announcing(ctx context.Context) {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		if err := p.heartbeat(ctx); err != nil && ctx.Err() == nil {
			p.troubles.failed(toAnnounce, fmt.Errorf("announce this server: %w", err), 0)
		} else if err == nil {
			p.troubles.worked(toAnnounce)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceEvery)
			defer cancel()
			if err := p.store.Retire(bye, p.name); err != nil && !errors.Is(err, queue.ErrClosed) {
				p.Log.Warn("the end of this server could not be reported to the other servers; they will notice", "error", err)
			}
			return
		}
	}
}

// heartbeat announces this server.
func (p *peers) heartbeat(ctx context.Context) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	return p.announce(ctx, nil)
}

// announce announces this server, and learns which others are present. A node is announced before it joins, so that no
// two servers have it. The caller holds sending.
func (p *peers) announce(ctx context.Context, joins *queue.ServedNode) error {
	if p.store == nil {
		return nil
	}
	nodes := read(p.base, func(s *State) []queue.ServedNode { return s.served() })
	said := queue.Server{Name: p.name, Address: p.Options.Address, Nodes: nodes}
	if joins != nil {
		said.Nodes = append(said.Nodes, *joins)
	}
	roll, err := p.store.Announce(ctx, said, announceHolds)
	if errors.Is(err, queue.ErrTaken) && joins == nil {
		p.yieldNodes(roll)
		return nil
	}
	if err != nil {
		return err
	}
	return update1(p.base, func(s *State) error {
		same := reflect.DeepEqual(nodesOf(roll), nodesOf(s.Others.roll)) && roll.Stops == s.Others.roll.Stops
		if s.Others.roll = roll; same {
			return nil
		}
		s.placePeers(time.Now())
		s.touch()
		s.wakeUp()
		return nil
	})
}

// yieldNodes gives up the nodes that another server took over while this one seemed gone, e.g. stopped or cut off. The
// other server takes care of their tasks.
func (p *peers) yieldNodes(roll queue.Roll) {
	p.Update(func(s *State) {
		for name, n := range nodesOf(roll) {
			if m := s.Joined[name]; m != nil && n.State != cluster.Down.String() {
				p.Log.Warn("a node is at another server now", "node", name, "server", n.Server)
				m.gone = true
				delete(s.Joined, name)
			}
		}
		s.Others.roll = roll
		s.placePeers(time.Now())
		s.touch()
	})
}
