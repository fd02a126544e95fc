package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"path"
	"strings"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Submit submits one job after the other: among jobs of one priority Slurm starts the one with the smallest
// number first.
func (q *QS) Submit(ctx context.Context, all []bridge.Submission) ([]bridge.Receipt, error) {
	receipts := make([]bridge.Receipt, len(all))
	var away error
	for i := range all {
		if away == nil {
			away = ctx.Err()
		}
		if away != nil { // each of the others would have to wait for the same answer
			receipts[i].Err = fmt.Errorf("not sent: %w", away)
			continue
		}
		r, err := q.request(&all[i])
		if err == nil {
			receipts[i].ID, err = q.door.submit(ctx, r)
		}
		receipts[i].Err = err
		if errors.Is(err, errAway) || errors.Is(err, bridge.ErrUnsure) {
			away = errAway
		}
		if err == nil {
			q.ask(r)
		}
	}
	return receipts, nil
}

// request translates a submission. If Slurm could never run the job as requested, the error wraps
// queue.ErrInvalid.
func (q *QS) request(s *bridge.Submission) (*request, error) {
	j := s.Job
	switch {
	case s.Priority < lowest || s.Priority > highest:
		return nil, fmt.Errorf("priority %d: Slurm has priorities from %d to %d, and 0 would hold the job; change the "+
			"levels of the bridge",
			s.Priority, lowest, highest)
	case j.Gang > 1:
		return nil, invalid("a gang cannot go through a bridge to Slurm task by task: submit one task with -n PROCESSES")
	case !j.Script && len(j.Argv) == 0:
		return nil, invalid("it has no command: jobs for a handler do not run in Slurm")
	}
	r := &request{name: s.Marker, comment: comment(j), priority: s.Priority}
	home, err := q.person(r, j.User)
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("{user}", j.User, "{pool}", j.Pool, "{leaf}", path.Base("/"+j.Pool), "{top}",
		strings.SplitN(j.Pool, "/", 2)[0]).Replace
	r.account, r.partition, r.qos = fill(q.options.Account), fill(q.options.Partition), fill(q.options.QOS)
	r.dir = cmp.Or(j.Dir, home)
	r.output, r.errors = fileName(cmp.Or(j.Output, fill(q.options.Output)), s), fileName(j.Error, s)
	r.env = environment(s, j, home)
	r.script, r.args = script(j)
	if err := r.size(j); err != nil {
		return nil, err
	}
	return r, nil
}

// person sets as whom the job runs, and returns the home directory of this user.
func (q *QS) person(r *request, name string) (home string, err error) {
	if as := q.door.runsAs(); as != "" {
		if name != as && !q.options.AnyUser {
			return "", invalid("this bridge submits as %s and takes no jobs of %s; start it as root, so that each "+
				"job runs as its user, or let it run the jobs of all users as %s with --any-user yes", as, name, as)
		}
		name = as
	}
	u, err := user.Lookup(name)
	if err != nil {
		return "", invalid("user %s does not exist on the machine of the bridge", name)
	}
	if u.Uid == "0" && !q.options.AllowRoot {
		return "", invalid("this bridge runs no jobs of root; submit as another user, or start it with --allow-root yes")
	}
	if q.door.runsAs() == "" {
		// Without a group, Slurm would use the group of the bridge: root's.
		r.uid, r.gid = u.Uid, u.Gid
	}
	return cmp.Or(u.HomeDir, "/"), nil
}
