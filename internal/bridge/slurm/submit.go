package slurm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Submit submits one job after the other: of jobs with one priority Slurm takes first that
// with the smallest number.
func (q *QS) Submit(ctx context.Context, all []bridge.Submission) ([]bridge.Receipt, error) {
	receipts := make([]bridge.Receipt, len(all))
	var away error
	for i := range all {
		if away == nil {
			away = ctx.Err()
		}
		if away != nil { // the others would have to wait as long for the same answer
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

// errAway says that slurmctld does not answer.
var errAway = errors.New("slurmctld does not answer")

// refusals are what slurmctld and sbatch say of a job that they will never take.
var refusals = []string{
	"invalid account", "invalid partition", "invalid qos", "invalid user id", "invalid group id", "invalid feature", "invalid license", "invalid generic resource",
	"invalid --", "invalid numeric", "unrecognized option", "requested node configuration is not available", "memory specification can not be satisfied",
	"requested time limit is invalid", "requested partition configuration not available", "node count specification invalid", "more processors requested than permitted",
	"user's group not permitted", "invalid job script", "this does not look like a batch script", "size limit exceeded", "pathname of a file, directory or other parameter too long",
	"user not found", "job script is empty", "batch script contains dos line breaks", "batch script is empty",
}

// later are refusals that may be another answer at another time. The job is not there.
var later = []string{
	"job violates accounting/qos policy", "temporarily unable to accept job", "access/permission denied", "limit reached", "job submission not permitted",
	"invalid authentication credential", "required partition not available",
}

// unreached are said of a slurmctld that got nothing.
var unreached = []string{"connect failure", "communication connection failure", "could not establish a configuration source", "could not resolve hostname"}

// judge tells from what was said whether a job may be there. What is not known may be.
func judge(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err // nothing was started
	}
	said := strings.ToLower(f.text)
	has := func(phrases []string) bool {
		for _, p := range phrases {
			if strings.Contains(said, p) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(f.err, context.Canceled), errors.Is(f.err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", bridge.ErrUnsure, err)
	case has(unreached):
		return fmt.Errorf("%w: %w", errAway, err)
	case has(refusals):
		return invalid("%s", hinted(f.text))
	case has(later):
		return err
	}
	return fmt.Errorf("%w: %w", bridge.ErrUnsure, err)
}

// ask remembers what priority was asked for, until it is seen.
func (q *QS) ask(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.asked) < maxAsked {
		q.asked[r.name] = r.priority
	}
}

// maxAsked bounds what is remembered: some submissions show as well as all whether priorities
// are obeyed.
const maxAsked = 1000

// disobedience is a priority that was not obeyed.
type disobedience struct {
	asked, got int64
	id         string
}

// compare compares the priorities of jobs that wait with what was asked for.
func (q *QS) compare(all []record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range all {
		r := &all[i]
		asked, known := q.asked[r.name]
		if !known || r.measured {
			continue
		}
		delete(q.asked, r.name)
		switch {
		case r.priority == asked:
			q.other = nil
		case r.priority != 0: // of one that somebody holds
			if q.other == nil {
				q.log.Warn("Slurm does not obey the priorities that it is given", "job", r.id, "asked", asked, "got", r.priority)
			}
			q.other = &disobedience{asked, r.priority, r.id}
		}
	}
}
