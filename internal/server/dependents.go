package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/queue"
)

// maxDependents bounds how many jobs a cancellation reads to find the other jobs that it cancels, too.
const maxDependents = 10_000

// dependents returns the jobs that wait for jobs that are to be canceled, directly or through other jobs, by id. It
// leaves out the jobs that are to be canceled themselves, and returns none for other changes.
func (s *jobService) dependents(ctx context.Context, changes []queue.Alteration) (jobs []*queue.Job, err error) {
	seen := map[int64]bool{}
	var level []int64
	for _, a := range changes {
		if a.Verb == queue.VerbCancel {
			level, seen[a.Job] = append(level, a.Job), true
		}
	}
	for len(level) > 0 && len(jobs) < maxDependents {
		found, err := s.loop.Client().Jobs(ctx, queue.Query{
			DependsOn: level, States: []queue.State{queue.Held, queue.Blocked}, Limit: maxDependents - len(jobs),
		})
		if err != nil {
			return nil, err
		}
		level = nil
		for _, j := range found {
			if !seen[j.ID] {
				level, jobs, seen[j.ID] = append(level, j.ID), append(jobs, j), true
			}
		}
	}
	slices.SortFunc(jobs, func(a, b *queue.Job) int { return cmp.Compare(a.ID, b.ID) })
	return jobs, nil
}

// cancelledToo says which dependents are canceled with the jobs of the changes that succeeded, because they
// can never start. It returns "" if there are none. The dependents are in the order of their ids: each comes
// after the jobs that it depends on.
func cancelledToo(changes []queue.Alteration, errs []error, dependents []*queue.Job) string {
	cancelled := map[int64]bool{}
	for i, a := range changes {
		cancelled[a.Job] = errs[i] == nil
	}
	var ids []string
	for _, j := range dependents {
		never := func(d queue.Dependency) bool { return cancelled[d.Job] && !d.On.Met(queue.Cancelled) }
		if slices.ContainsFunc(j.After, never) {
			cancelled[j.ID] = true
			ids = append(ids, strconv.FormatInt(j.ID, 10))
		}
	}
	n, more, when := len(ids), "", "too"
	if slices.ContainsFunc(changes, func(a queue.Alteration) bool { return a.Waiting }) {
		when = "when the running tasks have ended"
	}
	if len(dependents) == maxDependents {
		more = "at least "
	}
	switch {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf("%sjob %s is canceled %s, because it depends on a canceled job", more, ids[0], when)
	case n > 10:
		ids = append(ids[:10], "…")
	}
	return fmt.Sprintf("%s%d jobs are canceled %s, because they depend on canceled jobs: %s",
		more, n, when, strings.Join(ids, ", "))
}
