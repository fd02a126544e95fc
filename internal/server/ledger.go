package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// ledgerSetting is the prefix of the keys that map the name of a bridge to its ledger.
const ledgerSetting = "bridge/"

// ledgers records which ledger belongs to the name of each bridge.
type ledgers struct {
	loop  *engine.Loop
	store queue.Store
	log   *slog.Logger
	mu    sync.Mutex // held while a bridge's ledger is compared with the stored one
}

// admit admits a bridge under the name of a node only if it has the ledger of the tasks that went to the queueing
// system under that name. A bridge without this ledger would submit the tasks again, and each job would run twice,
// whether or not the earlier bridge is alive.
func (s *ledgers) admit(ctx context.Context, node, ledger string, takeOver bool) error {
	keeper, ok := s.store.(queue.Settings)
	if ledger == "" || !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := keeper.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	switch was := all[ledgerSetting+node]; {
	case was == ledger:
		return nil
	case was != "" && !takeOver:
		return fmt.Errorf(
			"the bridge %s has its ledger in another directory: start it with that --dir, or give this one another --name; "+
				"if that ledger is lost and the queueing system has none of its jobs, add --take-over: %w",
			node, queue.ErrState)
	case was != "":
		s.log.Warn("a bridge has taken over the node of a bridge with another ledger", "node", node)
	}
	if err := keeper.Set(ctx, ledgerSetting+node, ledger); err != nil {
		return fmt.Errorf("store the ledger of %s: %w", node, err)
	}
	return nil
}

// forget deletes the records of a node that is gone for good: its drain and, for a bridge, its ledger. It refuses a
// node that is present. It also refuses a bridge that may have tasks in a queueing system, because a successor of
// the same name would be admitted without the bridge's ledger.
func (s *ledgers) forget(ctx context.Context, node string) error {
	keeper, ok := s.store.(queue.Settings)
	if !ok {
		return queue.Missingf("node %q: the server has no record of it", node)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	listed := false
	for _, n := range views.Nodes(s.loop) {
		listed = listed || n.Name == node
		if n.Name == node && n.State != "down" {
			return fmt.Errorf("node %s is connected; end its agent or bridge first: %w", node, queue.ErrState)
		} else if n.Name == node && n.Tasks > 0 {
			return fmt.Errorf(
				"node %s is down, and some of its tasks have not ended (%d); start it again, or cancel their jobs and wait "+
					"until its lease is over: %w", node, n.Tasks, queue.ErrState)
		}
	}
	all, err := keeper.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	bridge, drained := all[ledgerSetting+node] != "", drained(s.loop, node)
	if !bridge && !drained && !listed {
		return queue.Missingf("node %q: the server has no record of it", node)
	}
	if bridge {
		if err := keeper.Set(ctx, ledgerSetting+node, ""); err != nil {
			return fmt.Errorf("forget the ledger of %s: %w", node, err)
		}
	}
	if drained {
		if err := s.loop.Overrides.SetDrained(ctx, node, nil, "", ""); err != nil {
			return err
		}
	}
	if err := s.loop.Overrides.ForgetNode(ctx, node); err != nil {
		return err
	}
	return s.loop.Sync(ctx)
}

// drained reports whether a node is drained or in maintenance, even if it is absent.
func drained(loop *engine.Loop, node string) bool {
	return engine.Read(loop, func(s *engine.State) bool { return s.InForce.Drain(node) != nil })
}
