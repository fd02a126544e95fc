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
