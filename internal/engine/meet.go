package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// meet is sync for a question about a pool. A pool whose jobs have all been held since they came is in no change
// of the feed, but the store has an account of it: if the core knows no pool of the name, and the store has jobs there,
// the core gets to know all pools that have accounts.
func (f *follower) meet(ctx context.Context, name string) error {
	if err := f.sync(ctx); err != nil {
		return err
	}
	if read(f.base, func(s *State) bool { return knows(s, name) }) {
		return nil
	}
	if has, err := f.hasJobs(ctx, name); !has || err != nil {
		return err
	}
	accounts, unlock, err := f.standstill(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	f.Update(func(s *State) {
		now, pools := time.Now(), s.Core.Read().Pools()
		s.Core.Advance(now)
		for _, path := range slices.Sorted(maps.Keys(accounts.Pools)) {
			s.Core.Pool(path)
		}
		if s.Core.Read().Pools() != pools {
			s.know(accounts, now)
			s.touch()
		}
	})
	return nil
}

// knows reports whether a name means a pool, or several.
func knows(s *State, name string) bool {
	if _, err := poolpath.Find(s.Core, name); !errors.Is(err, queue.ErrNotFound) {
		return true
	}
	_, can := poolpath.Makes(&s.Shares, name)
	return can
}

// hasJobs reports whether the store has a job in a pool of a name, or of a user.
func (f *follower) hasJobs(ctx context.Context, name string) (bool, error) {
	asked := []queue.Query{{User: name, Limit: 1}}
	for _, path := range share.Named(name) {
		asked = append(asked, queue.Query{Pool: path, Limit: 1})
	}
	for _, q := range asked {
		if jobs, err := f.Store.Jobs(ctx, q); len(jobs) > 0 || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}
