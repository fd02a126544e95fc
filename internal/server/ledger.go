package server

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead"
)

// ledgerSetting begins the keys under which it is kept which ledger belongs to a bridge's name.
const ledgerSetting = "bridge/"

// admit lets a bridge in under the name of a node if what was given to the queueing system
// under that name is written down where it looks. Another one would give it there again,
// and each job would run twice; whether the one before is alive has nothing to do with it.
func (s *Server) admit(ctx context.Context, node, ledger string, takeOver bool) error {
	keeper, ok := s.options.Store.(fairlead.Settings)
	if ledger == "" || !ok {
		return nil
	}
	s.admitting.Lock()
	defer s.admitting.Unlock()
	all, err := keeper.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	switch was := all[ledgerSetting+node]; {
	case was == ledger:
		return nil
	case was != "" && !takeOver:
		return fmt.Errorf("node %s is that of a bridge with another directory, in whose ledger its jobs are; start this one with the same --dir, or with a --name of its own, or, if that ledger is lost and its jobs are out of the queueing system, with --take-over: %w", node, fairlead.ErrState)
	case was != "":
		s.log.Warn("a bridge has taken over a node from one with another ledger", "node", node)
	}
	if err := keeper.Set(ctx, ledgerSetting+node, ledger); err != nil {
		return fmt.Errorf("keep the ledger of %s: %w", node, err)
	}
	return nil
}

// forgetNode drops what is kept of a node that is gone for good: that it was drained, and, of a
// bridge, which ledger it had. One that is there, or of which tasks may be in a queueing system,
// is not: whoever comes under its name then would be let in without its ledger.
func (s *Server) forgetNode(ctx context.Context, node string) error {
	keeper, ok := s.options.Store.(fairlead.Settings)
	if !ok {
		return &fairlead.Missing{Msg: fmt.Sprintf("node %q: nothing is kept of it", node)}
	}
	s.admitting.Lock()
	defer s.admitting.Unlock()
	for _, n := range s.options.Loop.Nodes() {
		if n.Name == node && n.State != "down" {
			return fmt.Errorf("node %s is there; end its agent or bridge first: %w", node, fairlead.ErrState)
		} else if n.Name == node && n.Tasks > 0 {
			return fmt.Errorf("node %s is away, and tasks of it are not over (%d); start it again, or cancel their jobs and wait until its lease is over: %w", node, n.Tasks, fairlead.ErrState)
		}
	}
	all, err := keeper.Settings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	bridge, drained := all[ledgerSetting+node] != "", s.options.Loop.Drained(node)
	if !bridge && !drained {
		return &fairlead.Missing{Msg: fmt.Sprintf("node %q: nothing is kept of it", node)}
	}
	if bridge {
		if err := keeper.Set(ctx, ledgerSetting+node, ""); err != nil {
			return fmt.Errorf("forget the ledger of %s: %w", node, err)
		}
		if err := s.options.Loop.ForgetBridge(ctx, node); err != nil {
			return err
		}
	}
	if !drained {
		return nil
	}
	return s.options.Loop.SetDrained(ctx, node, false, "")
}
