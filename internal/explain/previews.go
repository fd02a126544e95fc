package explain

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// previews caches recent orders for jobs that are not in the shared order. A page asks for such an order twice: for why
// and for what-if.
type previews struct {
	mu  sync.Mutex
	job map[int64]*preview
}

// preview is the order ahead of a job, as far as there was time, with a copy of the scheduler.
type preview struct {
	of    *previews
	job   sched.Job
	order *Order
	users int    // requests that read the copy
	free  func() // lets others use the memory of the copy
	gone  bool   // from the cache, so that the last user frees the memory
}

// The maximum age of a preview, and the maximum number of previews.
const (
	previewAge   = 500 * time.Millisecond
	previewsKept = 10 // each has a copy of the scheduler
)

// stored returns the stored result for a job, if the job is unchanged. The caller calls done.
func (p *previews) stored(j sched.Job, core *sched.Scheduler) *preview {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.job[j.ID]
	if x == nil || x.job != j || x.order.core != core || time.Since(x.order.At) >= previewAge {
		return nil
	}
	x.users++
	return x
}

// keep stores a result. The caller calls done.
func (p *previews) keep(j sched.Job, o *Order, free func()) *preview {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job == nil {
		p.job = map[int64]*preview{}
	}
	for id, x := range p.job {
		if id == j.ID || len(p.job) >= previewsKept || time.Since(x.order.At) >= previewAge {
			delete(p.job, id)
			x.gone = true
			x.freeUnused()
		}
	}
	x := &preview{of: p, job: j, order: o, users: 1, free: free}
	p.job[j.ID] = x
	return x
}

// done says that a request no longer reads the copy.
func (x *preview) done() {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	x.users--
	x.freeUnused()
}

func (x *preview) freeUnused() {
	if x.gone && x.users == 0 {
		x.free()
	}
}
