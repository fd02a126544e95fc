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

// meet is sync before a question about a pool. If all jobs of a pool have been held since their submission, no change
// in the feed mentions the pool, but the store has an account of it. So if the core knows no pool of that name but the
// store has jobs there, meet adds all pools with accounts to the core.
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

// knows reports whether a name means one or several pools of the core.
func knows(s *State, name string) bool {
	if _, err := poolpath.Find(s.Core, name); !errors.Is(err, queue.ErrNotFound) {
		return true
	}
	_, can := poolpath.Makes(&s.Shares, name)
	return can
}

// hasJobs reports whether the store has a job in a pool of this name, or of a user of this name.
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
