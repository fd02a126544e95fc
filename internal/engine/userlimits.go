package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/queue"
)

// userLimitError is an [queue.ErrLimit]: the request would put a user above a limit.
type userLimitError struct {
	User  string
	What  string // e.g. "waiting jobs"
	Has   int64
	Asks  int64
	Max   int64
	Field string // of the configuration, e.g. user_limits.jobs
}

func (e *userLimitError) Error() string {
	next := "wait until some of them have started"
	if e.Field == poolsField {
		next = "use existing pools"
	}
	what := e.What
	if e.Max == 1 {
		what = strings.TrimSuffix(what, "s")
	}
	return fmt.Sprintf("limit of %d %s for each user: %s has %d, and this submission would add %d; %s, or ask an administrator to raise %s",
		e.Max, what, e.User, e.Has, e.Asks, next, e.Field)
}

// Is makes errors.Is(err, ErrLimit) true.
func (e *userLimitError) Is(target error) bool { return target == queue.ErrLimit }

// poolsField is the configuration field of the limit of pools.
const poolsField = "user_limits.pools"

// How often the store counts the jobs of users. It reads all jobs that have not ended, so counting takes at most
// 1/censusPart of the time. In between, the server adds the jobs that it has accepted since, but does not subtract the
// jobs that have started since.
const (
	censusAge  = 10 * time.Second
	censusSoon = time.Second // before a refusal
	censusPart = 100
)

// users knows how much each user has: the store's count, and later additions. Of its locks counting is taken first, and
// that of the makers last.
type users struct {
	store    queue.Store
	counting sync.Mutex // held while the store counts

	mu       sync.Mutex // guards the following fields
	at       time.Time  // when the store counted
	took     time.Duration
	counted  map[string]queue.UserCount
	since    map[string]queue.UserCount
	incoming map[*addition]bool // submissions in progress
	makers   makers             // of the pools of the store, and of the pools of new submissions
}

// addition is the amount that a request adds for one user.
type addition struct {
	user  string
	asks  queue.UserCount
	pools []string
}

func newUsers(store queue.Store) *users {
	return &users{store: store, since: map[string]queue.UserCount{}, incoming: map[*addition]bool{},
		makers: makers{of: map[string]string{}}}
}

// byAge returns the paths of pools, the oldest pool first.
func byAge(accounts map[string]queue.Account) []string {
	return slices.SortedFunc(maps.Keys(accounts), func(a, b string) int {
		return cmp.Or(accounts[a].Since.Compare(accounts[b].Since), cmp.Compare(a, b))
	})
}

// load records the makers of the store's pools. A pool with pools below it belongs to the maker of the first of those.
func (u *users) load(accounts map[string]queue.Account) {
	for _, path := range byAge(accounts) {
		u.makers.made(path, accounts[path].Maker)
	}
}

// census asks the store for a count if the last one is older than age, but no more often than its cost allows.
func (u *users) census(ctx context.Context, age time.Duration) error {
	counter, can := u.store.(queue.UserCounter)
	u.counting.Lock()
	defer u.counting.Unlock()
	u.mu.Lock()
	due := can && (u.counted == nil || time.Since(u.at) >= max(age, censusPart*u.took))
	before := maps.Clone(u.since)
	u.mu.Unlock()
	if !due {
		return nil
	}
	began := time.Now()
	counted, err := counter.CountUsers(ctx)
	if err != nil {
		return fmt.Errorf("count what users have: %w", err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at, u.took, u.counted = time.Now(), time.Since(began), counted
	for user, was := range before { // amounts added before it began are in the count
		if left := u.since[user].Plus(queue.UserCount{Jobs: -was.Jobs, Tasks: -was.Tasks}); left != (queue.UserCount{}) {
			u.since[user] = left
		} else {
			delete(u.since, user)
		}
	}
	return nil
}

// admit counts a request toward the limits, or returns the limit that forbids it. The request counts until the caller
// reports its outcome by [users.taken].
func (u *users) admit(ctx context.Context, more *addition, shares *allocation.Config) (err error) {
	for _, age := range []time.Duration{censusAge, censusSoon} {
		if err := u.census(ctx, age); err != nil {
			return err
		}
		if err = u.take(more, shares); err == nil {
			break
		}
	}
	return err
}

// additions are the amounts that a request adds for several users, one entry for each.
type additions []*addition

func (all *additions) of(user string) *addition {
	for _, more := range *all {
		if more.user == user {
			return more
		}
	}
	more := &addition{user: user}
	*all = append(*all, more)
	return more
}

// admitAll admits all additions, or none. The caller calls the returned function with the amounts that were
// really added.
func (u *users) admitAll(ctx context.Context, all additions, shares *allocation.Config) (end func(came additions),
	err error) {
	for i, more := range all {
		if err := u.admit(ctx, more, shares); err != nil {
			for _, other := range all[:i] {
				u.taken(other, &addition{})
			}
			return nil, err
		}
	}
	return func(came additions) {
		for _, more := range all {
			u.taken(more, came.of(more.user))
		}
	}, nil
}

// take enters an addition if it is within the limits.
func (u *users) take(more *addition, s *allocation.Config) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	has, limits := u.has(more.user), s.Users
	for _, x := range []userLimitError{
		{What: "waiting jobs", Has: has.Jobs, Asks: more.asks.Jobs, Max: int64(limits.Jobs), Field: "user_limits.jobs"},
		{What: "waiting tasks", Has: has.Tasks, Asks: more.asks.Tasks, Max: int64(limits.Tasks), Field: "user_limits.tasks"},
	} {
		if x.User = more.user; x.Max > 0 && x.Asks > 0 && x.Has+x.Asks > x.Max {
			return &x
		}
	}
	if err := u.checkPools(more, s); err != nil {
		return err
	}
	u.incoming[more] = true
	return nil
}

// checkPools returns an error if an addition would create too many pools.
func (u *users) checkPools(more *addition, s *allocation.Config) error {
	u.makers.mu.Lock()
	defer u.makers.mu.Unlock()
	unknown := func(path string) bool { _, known := u.makers.of[path]; return !known }
	if s.Users.Pools == 0 || !slices.ContainsFunc(more.pools, unknown) {
		return nil
	}
	named, has, all := s.Named(), map[string]bool{}, map[string]bool{}
	add := func(to map[string]bool, paths []string) {
		for _, path := range paths {
			for p := range upwards(path) {
				if !named[p] && unknown(p) {
					to[p] = true
				}
			}
		}
	}
	for other := range u.incoming {
		if other.user == more.user {
			add(has, other.pools)
			add(all, other.pools)
		}
	}
	add(all, more.pools)
	made, asks := u.makers.poolsBy(named)[more.user]+len(has), len(all)-len(has)
	if asks == 0 || made+asks <= s.Users.Pools {
		return nil
	}
	return &userLimitError{more.user, "pools", int64(made), int64(asks), int64(s.Users.Pools), poolsField}
}

// poolsBy counts the pools that each user has created, except those with these names.
func (m *makers) poolsBy(named map[string]bool) map[string]int {
	n := map[string]int{}
	for path, maker := range m.of {
		if maker != "" && !named[path] {
			n[maker]++
		}
	}
	return n
}

// has returns an upper bound of what a user has.
func (u *users) has(user string) queue.UserCount {
	sum := u.counted[user].Plus(u.since[user])
	for more := range u.incoming {
		if more.user == user {
			sum = sum.Plus(more.asks)
		}
	}
	return sum
}

// taken ends an addition. The argument came is the part of the addition that the store accepted.
func (u *users) taken(more, came *addition) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.incoming, more)
	if came.asks != (queue.UserCount{}) {
		u.since[more.user] = u.since[more.user].Plus(came.asks)
	}
	for _, path := range came.pools {
		u.makers.made(path, more.user)
	}
}

// UserStanding holds the amounts of a user, and the limits on them.
type UserStanding struct {
	User        string                `json:"user"`
	Running     int64                 `json:"running"`       // tasks, also if they wait in another queueing system
	Jobs        int64                 `json:"waiting_jobs"`  // with tasks that have not started
	Tasks       int64                 `json:"waiting_tasks"` // of these jobs
	Pools       int                   `json:"pools"`         // the pools that only the user's jobs made
	Limits      allocation.UserLimits `json:"-"`
	Part        float64               `json:"-"` // largest fraction of a limit on submissions that is used
	Description string                `json:"-"` // e.g. 9000 of 10000 waiting jobs (user_limits.jobs)
}

// near returns the users who use at least this part of a limit, the nearest first. running has the number of running
// tasks of each user.
func (u *users) near(part float64, shares *allocation.Config, running map[string]int64) []UserStanding {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.makers.mu.Lock()
	pools, all := u.makers.poolsBy(shares.Named()), map[string]bool{}
	u.makers.mu.Unlock()
	for _, m := range []map[string]queue.UserCount{u.counted, u.since} {
		for user := range m {
			all[user] = true
		}
	}
	for user := range pools {
		all[user] = true
	}
	for user := range running {
		all[user] = true
	}
	var out []UserStanding
	for user := range all {
		if s := nearnessOf(user, u.has(user), pools[user], shares.Users); s.Part >= part {
			s.Running = running[user]
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b UserStanding) int {
		return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.User, b.User))
	})
	return out
}

// nearnessOf computes how near a user is to the limits.
func nearnessOf(user string, has queue.UserCount, pools int, limits allocation.UserLimits) UserStanding {
	s := UserStanding{User: user, Jobs: has.Jobs, Tasks: has.Tasks, Pools: pools, Limits: limits}
	for _, x := range []struct {
		n           int64
		most        int
		what, field string
	}{
		{has.Jobs, limits.Jobs, "waiting jobs", "user_limits.jobs"},
		{has.Tasks, limits.Tasks, "waiting tasks", "user_limits.tasks"},
		{int64(pools), limits.Pools, "pools", poolsField},
	} {
		if part := float64(x.n) / float64(max(1, x.most)); x.most > 0 && part > s.Part {
			s.Part, s.Description = part, fmt.Sprintf("%d of %d %s (%s)", x.n, x.most, x.what, x.field)
		}
	}
	return s
}
