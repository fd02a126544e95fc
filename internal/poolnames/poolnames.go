// Package poolnames updates stores in which earlier versions gave several users pools with the same name.
// These versions replaced each character that a name may not contain with an underscore, so that "a b" and
// "a/b" shared the pool a_b. [share.UserPool] returns the present names.
//
// A pool whose jobs all belong to one user gets that user's new name and keeps all its data. In a pool of
// several users, the jobs without running tasks go to a separate pool for each user; running and ended jobs
// and the usage stay. So no running task is affected, and nothing is counted twice.
package poolnames

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/share"
)

// Keys of settings that contain paths of pools, and of the setting with the report on renamed pools.
const (
	PauseSetting       = "pause/"       // followed by the path
	BoostSetting       = "boost/"       // followed by a number
	ReservationSetting = "reservation/" // followed by a name
	Setting            = "pool-names"
)

// Cause says why jobs were moved, for their history.
const Cause = "each user has a pool of their own since an upgrade"

// Holding counts the jobs of a user in a pool, ended jobs included.
type Holding struct {
	Pool, User string
	Idle       int // jobs that have not ended and have no running task
	Busy       int // jobs with a running task
}

// Store is the part of a store that the migration needs, all in one transaction.
type Store interface {
	// Pools returns the paths of all pools, and Holdings the jobs in them.
	Pools() ([]string, error)
	Holdings() ([]Holding, error)
	// Alone fails if another process uses the store now.
	Alone() error
	// Rename gives a pool another path, which must be free.
	Rename(from, to string) error
	// Move moves the user's jobs that have no running task to another pool, and makes that pool if it is
	// missing.
	Move(user, from, to string) error
	Settings() (map[string]string, error)
	Set(key, value string) error
	Audit(Entry) error
}

// Entry is an entry for the record of changes.
type Entry struct{ What, Subject, New, Note string }

// Report lists the renamed pools.
type Report struct {
	At      time.Time `json:"at"`
	Renamed []Change  `json:"renamed,omitempty"`
	// Parted lists the pools that kept their usage, because several users had them.
	Parted []Parted `json:"parted,omitempty"`
	// Reported is set when the report has been logged.
	Reported bool `json:"reported,omitempty"`
}

// Change is a pool of one user with its new name.
type Change struct {
	User string `json:"user"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Parted is a pool that several users had.
type Parted struct {
	Pool  string   `json:"pool"`
	Users []string `json:"users"`
	Moved []Moved  `json:"moved"`
}

// Moved is a user whose jobs went to a separate pool.
type Moved struct {
	User string `json:"user"`
	To   string `json:"to"`
	Jobs int    `json:"jobs"`           // jobs that were moved
	Left int    `json:"left,omitempty"` // jobs that were running, and stay until they end
}

// Read returns the report in a store, or nil if no pool was renamed in it.
func Read(settings map[string]string) (*Report, error) {
	text := settings[Setting]
	if text == "" {
		return nil, nil
	}
	r := &Report{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("read the stored report on names of pools: %w", err)
	}
	return r, nil
}

// Text returns the report in the form in which it is stored.
func (r *Report) Text() (string, error) {
	b, err := json.Marshal(r)
	return string(b), err
}

// Migrate gives the pools of users their present names. It runs once in the life of a store: later, a pool
// with a user's old name may belong to somebody else and hold jobs of that user.
func Migrate(s Store, now time.Time) error {
	pools, err := s.Pools()
	if err != nil {
		return err
	}
	holdings, err := s.Holdings()
	if err != nil {
		return err
	}
	r := plan(pools, holdings)
	if len(r.Renamed)+len(r.Parted) == 0 {
		return nil
	}
	if err := s.Alone(); err != nil {
		return err
	}
	r.At = now
	if err := r.carryOut(s); err != nil {
		return err
	}
	settings, err := s.Settings()
	if err != nil {
		return err
	}
	changed, err := r.settings(settings)
	if err != nil {
		return err
	}
	if changed[Setting], err = r.Text(); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		if err := s.Set(key, changed[key]); err != nil {
			return err
		}
	}
	return nil
}

// plan decides what to do. It does not change pools with other pools below them, because these belong to
// groups. It orders the renamings so that each path is free when it is needed.
func plan(pools []string, holdings []Holding) *Report {
	taken, inner := map[string]bool{}, map[string]bool{}
	for _, path := range pools {
		taken[path] = true
		for above, _ := share.Cut(path); above != ""; above, _ = share.Cut(above) {
			inner[above] = true
		}
	}
	in := map[string][]Holding{}
	for _, h := range holdings {
		in[h.Pool] = append(in[h.Pool], h)
	}
	r := &Report{}
	var alone []Change
	for _, path := range slices.Sorted(maps.Keys(in)) {
		switch all := in[path]; {
		case inner[path]:
		case len(all) > 1:
			r.part(path, all)
		default:
			if to, old := share.Renamed(path, all[0].User); old {
				alone = append(alone, Change{all[0].User, path, to})
			}
		}
	}
	for more := true; more; {
		more = false
		alone = slices.DeleteFunc(alone, func(c Change) bool {
			if taken[c.To] {
				return false
			}
			delete(taken, c.From)
			taken[c.To], more = true, true
			r.Renamed = append(r.Renamed, c)
			return true
		})
	}
	for _, c := range alone { // somebody already has jobs in the pool with the new name
		r.part(c.From, in[c.From])
	}
	slices.SortFunc(r.Parted, func(a, b Parted) int { return cmp.Compare(a.Pool, b.Pool) })
	return r
}

// part gives a separate pool to each user for whom this path is the old name.
func (r *Report) part(path string, all []Holding) {
	p := Parted{Pool: path}
	for _, h := range all {
		p.Users = append(p.Users, h.User)
		if to, old := share.Renamed(path, h.User); old {
			p.Moved = append(p.Moved, Moved{User: h.User, To: to, Jobs: h.Idle, Left: h.Busy})
		}
	}
	slices.Sort(p.Users)
	slices.SortFunc(p.Moved, func(a, b Moved) int { return cmp.Compare(a.User, b.User) })
	if len(p.Moved) > 0 {
		r.Parted = append(r.Parted, p)
	}
}

func (r *Report) carryOut(s Store) error {
	for _, c := range r.Renamed {
		if err := s.Rename(c.From, c.To); err != nil {
			return err
		}
		if err := s.Audit(Entry{"pool renamed", c.From, c.To, fmt.Sprintf("of the user %q", c.User)}); err != nil {
			return err
		}
	}
	for _, p := range r.Parted {
		for _, m := range p.Moved {
			if m.Jobs > 0 {
				if err := s.Move(m.User, p.Pool, m.To); err != nil {
					return err
				}
			}
			note := fmt.Sprintf("jobs of the user %q: %d moved, %d left as they run", m.User, m.Jobs, m.Left)
			if err := s.Audit(Entry{"pool parted", p.Pool, m.To, note}); err != nil {
				return err
			}
		}
	}
	return nil
}

// settings returns the settings that change because they name pools. Pauses and reservations follow the jobs;
// a boost of a pool that several users had stays there, because it was granted only once.
func (r *Report) settings(all map[string]string) (map[string]string, error) {
	renamed, parted := map[string]string{}, map[string][]string{}
	for _, c := range r.Renamed {
		renamed[c.From] = c.To
	}
	for _, p := range r.Parted {
		for _, m := range p.Moved {
			parted[p.Pool] = append(parted[p.Pool], m.To)
		}
	}
	changed := map[string]string{}
	for key, text := range all {
		var err error
		switch {
		case strings.HasPrefix(key, PauseSetting):
			err = pauses(changed, all, key, renamed, parted)
		case strings.HasPrefix(key, BoostSetting):
			err = edit(changed, key, key, text, "pool", func(pool *string) bool {
				to, ok := renamed[*pool]
				if ok {
					*pool = to
				}
				return ok
			})
		case strings.HasPrefix(key, ReservationSetting):
			err = edit(changed, key, key, text, "pools", func(pools *[]string) bool { return reserve(pools, renamed, parted) })
		}
		if err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// pauses moves the pause of a pool, or copies it to the pools to which the jobs went. It does not replace
// existing pauses.
func pauses(changed, all map[string]string, key string, renamed map[string]string, parted map[string][]string) error {
	pool, text := strings.TrimPrefix(key, PauseSetting), all[key]
	into := parted[pool]
	if to, ok := renamed[pool]; ok {
		into = []string{to}
		if _, new := changed[key]; !new { // another pool may have this name now
			changed[key] = ""
		}
	}
	for _, to := range into {
		if _, there := all[PauseSetting+to]; there && renamed[to] == "" {
			continue
		}
		if err := edit(changed, key, PauseSetting+to, text, "pool", func(pool *string) bool { *pool = to; return true }); err != nil {
			return err
		}
	}
	return nil
}

// reserve adds the pools to which jobs went to the pools of a reservation.
func reserve(pools *[]string, renamed map[string]string, parted map[string][]string) bool {
	var out []string
	for _, pool := range *pools {
		if to, ok := renamed[pool]; ok {
			pool = to
		}
		out = append(out, pool)
	}
	for _, pool := range *pools {
		out = append(out, parted[pool]...)
	}
	if slices.Equal(out, *pools) {
		return false
	}
	*pools = out
	return true
}

// edit changes one field of a setting that is an object, and keeps the text of the other fields.
func edit[T any](changed map[string]string, key, to, text, field string, f func(*T) bool) error {
	var all map[string]json.RawMessage
	var value T
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return fmt.Errorf("the setting %s cannot be read: %w", key, err)
	}
	if all == nil {
		return nil
	}
	if raw := all[field]; raw != nil {
		if err := json.Unmarshal(raw, &value); err != nil {
			return fmt.Errorf("the setting %s cannot be read: %w", key, err)
		}
	}
	if !f(&value) {
		return nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	all[field] = raw
	b, err := json.Marshal(all)
	changed[to] = string(b)
	return err
}
