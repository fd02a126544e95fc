package sqlite

import "github.com/fairlead/fairlead/queue"

// fresh keeps jobs in memory from their submission to their first lease, so that leasing a recent job needs no read. It
// is only a cache: the store reads a job that is not in it.
type fresh struct{ jobs map[int64]freshJob }

type freshJob struct {
	job  *queue.Job
	pool int64
}

// The number of jobs that are kept, and their maximum size.
const (
	freshJobs    = 16_384
	freshPayload = 1 << 10
)

func (f *fresh) keep(j *queue.Job, pool int64) {
	size := len(j.Payload)
	for _, a := range j.Argv {
		size += len(a)
	}
	for k, v := range j.Env {
		size += len(k) + len(v)
	}
	if len(f.jobs) < freshJobs && size <= freshPayload {
		f.jobs[j.ID] = freshJob{j, pool}
	}
}
