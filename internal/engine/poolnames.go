package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// StaleName is a configured pool with the name that earlier versions gave the pool of a user. The user's jobs now go to
// another pool, which the configuration does not name.
type StaleName struct {
	Pool string // in the configuration
	User string
	Own  string // where the user's jobs go
}

// Text describes the stale name in words.
func (n StaleName) Text() string {
	return fmt.Sprintf("the configuration names %s, but jobs of the user %q go to %s", n.Pool, n.User, n.Own)
}

// staleNames returns the stale names of users who have a pool, and of users whose pools were renamed when the store was
// upgraded.
func (s *State) staleNames() []StaleName {
	var found []StaleName
	add := func(was, user, own string) {
		if n := (StaleName{was, user, own}); s.Shares.Stale(was, own) && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	for id := range s.Core.Read().Pools() {
		p := sched.PoolID(id)
		name := s.Core.Read().Name(p)
		if !strings.Contains(name, "=") || s.Core.Read().PriorityClass(p) {
			continue // the name has not changed
		}
		if user, ok := share.UserOf(name); ok {
			path := s.Core.Path(p)
			add(allocation.FormerPath(path, user), user, path)
		}
	}
	if r := s.names; r != nil {
		for _, c := range r.Renamed {
			add(c.From, c.User, c.To)
		}
		for _, c := range r.Parted {
			for _, m := range c.Moved {
				add(c.Pool, m.User, m.To)
			}
		}
	}
	slices.SortFunc(found, func(a, b StaleName) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Own, b.Own)) })
	return found
}

// maxNames is the number of pools that the log names one by one.
const maxNames = 20

// reportNames logs the renamed pools once. It logs the stale names in the configuration at each start.
func (b *base) reportNames(ctx context.Context) error {
	for i, n := range read(b, (*State).staleNames) {
		if i == maxNames {
			break
		}
		b.Log.Warn("the configuration has an old name of a user's pool; change it to the new name", "pool", n.Pool, "user", n.User, "new", n.Own)
	}
	r := read(b, func(s *State) *poolnames.Report { return s.names }) // only this function changes it
	if r == nil || r.Reported {
		return nil
	}
	b.Log.Info("pools of users have new names; see the record: fairlead config history", "renamed", len(r.Renamed), "parted", len(r.Parted))
	for i, p := range r.Parted {
		if i == maxNames {
			break
		}
		b.Log.Warn("several users shared a pool; their waiting jobs are now in pools of their own, and the usage stays", "pool", p.Pool, "users", p.Users)
	}
	r.Reported = true
	text, err := r.Text()
	if err != nil {
		return err
	}
	return b.record(ctx, nil, map[string]string{poolnames.Setting: text})
}
