package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/poolpath"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// Intake accepts jobs, and changes of jobs, from users with limits. It refuses jobs that could never run.
type Intake struct {
	*base
	client   *Client
	users    *users
	follower *follower
}

// SubmitOptions say which jobs an engine accepts.
type SubmitOptions struct {
	// Unsatisfiable also accepts jobs that no node could ever run.
	Unsatisfiable bool
	// By is the user who submits; nil is the program itself. Users who are not administrators have the rights and the
	// limits of the current shares. A submission that would put any of them above a limit is refused as a whole, with
	// [queue.ErrLimit].
	By *access.Principal
}

// limited reports whether the submitting user is not an administrator.
func (o *SubmitOptions) limited() bool { return o.By != nil && !o.By.Admin }

// Submit is [Client.SubmitAll], but also refuses jobs that no node could ever run, and jobs that request a reservation
// that they may not use.
func (in *Intake) Submit(ctx context.Context, jobs []queue.Job) ([]queue.Submission, error) {
	return in.SubmitWith(ctx, jobs, SubmitOptions{})
}

// SubmitAnyway is Submit, but also accepts jobs that no node could ever run.
func (in *Intake) SubmitAnyway(ctx context.Context, jobs []queue.Job) ([]queue.Submission, error) {
	return in.SubmitWith(ctx, jobs, SubmitOptions{Unsatisfiable: true})
}

// SubmitWith is Submit with options.
func (in *Intake) SubmitWith(ctx context.Context, jobs []queue.Job, o SubmitOptions) ([]queue.Submission, error) {
	own, out := in.client.settled(jobs, o.By, in.checkOf(o))
	done := func([]queue.Submission) {}
	if o.limited() {
		var err error
		if done, err = in.admitJobs(ctx, own, out); err != nil {
			return nil, err
		}
	}
	err := submitSettled(ctx, own, out, in.Store.Submit)
	done(out) // this includes jobs that were added before an error
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkOf returns the check of each job.
func (in *Intake) checkOf(o SubmitOptions) func(*queue.Job) error {
	if o.Unsatisfiable {
		return in.CheckWindow
	}
	return func(j *queue.Job) error { return cmp.Or(in.CheckWindow(j), in.Unsatisfiable(j)) }
}

// CheckLimits returns the error that user limits would cause if this user submitted the jobs. It stores nothing.
func (in *Intake) CheckLimits(ctx context.Context, by *access.Principal, jobs []queue.Job) error {
	own, out := in.client.settled(jobs, by, func(*queue.Job) error { return nil })
	done, err := in.admitJobs(ctx, own, out)
	if err == nil {
		done(nil)
	}
	return err
}

// admitJobs counts the jobs toward the limits of their users. The caller calls done with the results of the jobs. Jobs
// with a known key are not new: admitJobs looks keys up only if the jobs would otherwise exceed a limit.
func (in *Intake) admitJobs(ctx context.Context, jobs []queue.Job,
	out []queue.Submission) (done func([]queue.Submission), err error) {
	shares := in.client.Shares.Load()
	end, err := in.users.admitAll(ctx, asked(jobs, func(i int) bool { return out[i].Err == nil }), shares)
	if errors.Is(err, queue.ErrLimit) {
		known, bad := in.inUse(ctx, jobs, out)
		if bad != nil {
			return nil, bad
		}
		if isNew := news(jobs, known); isNew != nil {
			end, err = in.users.admitAll(ctx, asked(jobs, func(i int) bool { return out[i].Err == nil && isNew[i] }), shares)
		}
	}
	if err != nil {
		return nil, err
	}
	return func(subs []queue.Submission) {
		end(asked(jobs, func(i int) bool { return i < len(subs) && subs[i].Err == nil && subs[i].ID > 0 && !subs[i].Existing }))
	}, nil
}

// asked returns how much the new jobs add for each user.
func asked(jobs []queue.Job, isNew func(int) bool) (all additions) {
	for i := range jobs {
		j := &jobs[i]
		more := all.of(j.User)
		if isNew(i) {
			more.asks = more.asks.Plus(queue.UserCount{Jobs: 1, Tasks: int64(j.Tasks)})
			more.pools = append(more.pools, j.Pool)
		}
	}
	return all
}

// Keyed returns the submissions for jobs whose keys are in use: the existing job, or an error if that has other
// contents. Other jobs have the zero Submission. Keyed stores nothing.
func (in *Intake) Keyed(ctx context.Context, jobs []queue.Job, o SubmitOptions) ([]queue.Submission, error) {
	own, out := in.client.settled(jobs, o.By, in.checkOf(o))
	known, err := in.inUse(ctx, own, out)
	if err != nil || known == nil {
		return make([]queue.Submission, len(jobs)), err
	}
	return known, nil
}

// inUse asks the store about the keys of the jobs without errors. It returns nil if no job has a key, or the store
// cannot answer.
func (in *Intake) inUse(ctx context.Context, jobs []queue.Job, out []queue.Submission) ([]queue.Submission, error) {
	reader, can := in.Store.(queue.KeyReader)
	var with []*queue.Job
	var at []int
	for i := range jobs {
		if jobs[i].Key != "" && out[i].Err == nil {
			with, at = append(with, &jobs[i]), append(at, i)
		}
	}
	if !can || len(with) == 0 {
		return nil, nil
	}
	subs, err := reader.Keyed(ctx, with)
	if err != nil {
		return nil, fmt.Errorf("look up keys: %w", err)
	}
	known := make([]queue.Submission, len(jobs))
	for k, s := range subs {
		known[at[k]] = s
	}
	return known, nil
}

// news reports which jobs would be new: their key belongs to no stored job, nor to an earlier one of the same call. It
// returns nil if no key was looked up.
func news(jobs []queue.Job, known []queue.Submission) (isNew []bool) {
	seen := map[[2]string]bool{}
	for i, s := range known {
		k := [2]string{jobs[i].User, jobs[i].Key}
		isNew = append(isNew, s == (queue.Submission{}) && !seen[k])
		seen[k] = seen[k] || jobs[i].Key != ""
	}
	return isNew
}

// AlterLimited is [Client.Alter] by a user with limits and rights: an ended job that waits again counts as a
// submission, and so does a pool that a move creates.
func (in *Intake) AlterLimited(
	ctx context.Context, by *access.Principal, changes ...queue.Alteration,
) ([]error, error) {
	more, err := in.additionsOf(ctx, by, changes)
	if err != nil {
		return nil, err
	}
	end, err := in.users.admitAll(ctx, more, in.client.Shares.Load())
	if err != nil {
		return nil, err
	}
	errs, err := in.client.alterBy(ctx, by, changes)
	if err != nil {
		more = nil
	}
	end(more)
	return errs, err
}

// additionsOf returns how much the changes add for each user.
func (in *Intake) additionsOf(
	ctx context.Context, by *access.Principal, changes []queue.Alteration,
) (all additions, err error) {
	var ids []int64
	for _, a := range changes {
		if a.Verb == queue.VerbRequeue || a.Verb == queue.VerbUncancel || a.Verb == queue.VerbMove {
			ids = append(ids, a.Job)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	jobs, err := in.client.Jobs(ctx, queue.Query{IDs: ids})
	if err != nil {
		return nil, err
	}
	byID := map[int64]*queue.Job{}
	for _, j := range jobs {
		byID[j.ID] = j
	}
	for _, a := range changes {
		switch j := byID[a.Job]; {
		case j == nil:
		case a.Verb == queue.VerbRequeue && j.State.Ended():
			user := all.of(j.User)
			user.asks = user.asks.Plus(queue.UserCount{Jobs: 1, Tasks: int64(j.Tasks)})
		case a.Verb == queue.VerbUncancel && j.State.Ended(): // jobs that come back with it are counted later
			user := all.of(j.User)
			user.asks = user.asks.Plus(queue.UserCount{Jobs: 1, Tasks: int64(j.Tasks - j.Succeeded - j.Failed)})
		case a.Verb == queue.VerbUncancel: // its waiting tasks were canceled, and it runs on
			user := all.of(j.User)
			user.asks = user.asks.Plus(queue.UserCount{Tasks: int64(j.Cancelled)})
		case a.Verb == queue.VerbMove && in.client.settleMove(by, j, &a) == nil:
			user := all.of(j.User)
			user.pools = append(user.pools, a.Pool)
		}
	}
	return all, nil
}

// UsersNearLimits returns the users who use at least this part of a limit, the nearest first; for 0, all users who have
// jobs or pools.
func (in *Intake) UsersNearLimits(ctx context.Context, part float64) ([]UserStanding, error) {
	if err := in.follower.sync(ctx); err != nil {
		return nil, err
	}
	if err := in.users.census(ctx, censusAge); err != nil {
		return nil, err
	}
	running := read(in.base, func(s *State) map[string]int64 {
		n := map[string]int64{}
		for _, r := range s.Runs {
			n[r.Header.User]++
		}
		return n
	})
	return in.users.near(part, in.client.Shares.Load(), running), nil
}

// CheckWindow refuses a job that requests a reservation that does not exist, does not admit it or is too short.
func (in *Intake) CheckWindow(j *queue.Job) error {
	return read(in.base, func(s *State) error {
		return s.InForce.checkWindow(j)
	})
}

// Unsatisfiable returns an error for a job that requests more than its pool may ever have, or that no known node, up or
// not, could ever run. It does not check nodes while some may still be unknown. That is so before the first node for
// such work has joined. After a restart it is so for the time that agents may take to return.
func (in *Intake) Unsatisfiable(j *queue.Job) error {
	h := HeaderOf(j)
	return read(in.base, func(s *State) error {
		if text := s.aboveMax(h); text != "" {
			return queue.Invalidf("max", "the job could never start: %s (to submit it anyway: --allow-unsatisfiable)",
				text)
		}
		c := s.Core.Cluster()
		a, must := s.RequestOf(h)
		if in.restarted && time.Since(in.Made) < in.Options.LeaseTTL || !c.Empty().Ever(work(a), nil) {
			return nil
		}
		if c.Empty().Ever(a, must) {
			if text := GangNever(c, h, a, must); text != "" {
				return queue.Invalidf("gang", "the nodes can never run this: %s (to submit it anyway: --allow-unsatisfiable)", text)
			}
			return nil
		}
		steps := c.Empty().Requirements(a, must)
		return queue.Invalidf("request", "no node can ever run this: %s (to submit it anyway: --allow-unsatisfiable)",
			NeverSentence(steps, len(c.Nodes())))
	})
}

// PoolPath returns the path of the pool with a name: a path, the end of a path, or the user who owns the pool. A pool
// that a placement rule makes has a path before it exists.
func (in *Intake) PoolPath(ctx context.Context, name string) (string, error) {
	path, err := in.poolPath(name)
	if !errors.Is(err, queue.ErrNotFound) {
		return path, err
	}
	if err := in.follower.meet(ctx, name); err != nil { // a new job may have created it
		return "", err
	}
	return in.poolPath(name)
}

// poolPath returns the path of the pool with a name, as far as the core and the rules know it.
func (b *base) poolPath(name string) (string, error) {
	return read2(b, func(s *State) (string, error) {
		id, err := poolpath.Find(s.Core, name)
		if errors.Is(err, queue.ErrNotFound) {
			if path, can := poolpath.Makes(&s.Shares, name); can {
				return path, nil
			}
			return "", queue.Missingf("there is no pool %.256q; see fairlead shares", name)
		}
		if err != nil {
			return "", err
		}
		return s.Core.Path(id), nil
	})
}

// PoolFor returns the path of the pool that a submission means by a name; see [poolpath.Names].
func (in *Intake) PoolFor(ctx context.Context, name string) string {
	if poolpath.IsPath(in.client.Shares.Load(), name) {
		return name
	}
	if path, err := in.PoolPath(ctx, name); err == nil {
		return path
	}
	return name // a later check has a better error for it
}

func (f *inForce) checkWindow(j *queue.Job) error {
	if j.Reservation == "" {
		return nil
	}
	r, there := f.reservations[j.Reservation]
	long := r.Until.Sub(r.From)
	switch {
	case !there || !r.Until.After(time.Now()):
		return queue.Invalidf("reservation", "there is no reservation %q; list reservations with: fairlead reserve",
			j.Reservation)
	case r.Maintenance:
		return queue.Invalidf("reservation", "%s is a maintenance, in which no job runs", r.Name)
	case !r.lets(j):
		return refusal(fmt.Sprintf("reservation %s is %s, and not for %s in %s: ask the administrator, or submit without --reservation", r.Name, r.who(), j.User, share.Original(j.Pool)))
	case j.Limit == 0:
		return queue.Invalidf("reservation", "a job without a time limit does not fit into the reservation %s; submit it with -t %s or less", r.Name, units.FormatDuration(long))
	case j.Limit > long:
		return queue.Invalidf("reservation", "the time limit of %s does not fit into the reservation %s, which lasts %s; submit it with -t %s or less",
			units.FormatDuration(j.Limit), r.Name, units.FormatDuration(long), units.FormatDuration(long))
	}
	return nil
}
