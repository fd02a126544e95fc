package gpu

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Pool hands out devices.
type Pool struct {
	mu   sync.Mutex
	free []Device // in the order in which they were found
	rank map[string]int
	back chan struct{} // closed when a device comes back, and replaced
}

// NewPool returns a pool of devices that are all free.
func NewPool(devices []Device) *Pool {
	p := &Pool{free: slices.Clone(devices), rank: map[string]int{}, back: make(chan struct{})}
	for i, d := range devices {
		p.rank[d.ID] = i
	}
	return p
}

// Empty reports whether the pool never had a device.
func (p *Pool) Empty() bool { return len(p.rank) == 0 }

// Take takes the GPUs of a request: GPUs of a type (gpu:a100), and beyond these GPUs of any type, up to the
// number of gpu. For a GPU of any type it first takes GPUs without a type, then GPUs of the types with the
// most free GPUs, so that typed requests still find theirs. If there are too few, it takes none, and returns
// a channel that is closed when there may be more.
//
// If the sender of the tasks counts free GPUs, too few are free only in two cases. In the first, an attempt
// that the sender considers over has not ended yet. In the second, the machine has several types, and a task
// that requested any type has a GPU of the type that another task needs.
func (p *Pool) Take(request map[string]int64) (taken []Device, again <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := slices.Clone(p.free)
	take := func(i int) {
		taken = append(taken, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	anyOf := request[resource]
	for name, n := range request {
		base, kind, typed := strings.Cut(name, ":")
		if base != resource || !typed {
			continue
		}
		for ; n > 0; n-- {
			i := slices.IndexFunc(rest, func(d Device) bool { return d.Type == kind })
			if i < 0 {
				return nil, p.back
			}
			take(i)
			anyOf--
		}
	}
	for ; anyOf > 0; anyOf-- {
		if len(rest) == 0 {
			return nil, p.back
		}
		take(spare(rest))
	}
	p.free = rest
	slices.SortFunc(taken, p.order)
	return taken, nil
}

func (p *Pool) order(a, b Device) int { return cmp.Compare(p.rank[a.ID], p.rank[b.ID]) }

// spare returns the index of the device that other requests need least.
func spare(free []Device) int {
	count := map[string]int{"": len(free) + 1}
	for _, d := range free {
		if d.Type != "" {
			count[d.Type]++
		}
	}
	best := 0
	for i, d := range free {
		if count[d.Type] > count[free[best].Type] {
			best = i
		}
	}
	return best
}

// Give returns devices to the pool.
func (p *Pool) Give(devices []Device) {
	if len(devices) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, devices...)
	slices.SortFunc(p.free, p.order)
	close(p.back)
	p.back = make(chan struct{})
}

// Names lists the devices as in CUDA_VISIBLE_DEVICES.
func Names(devices []Device) string {
	var names []string
	for _, d := range devices {
		names = append(names, d.ID)
	}
	return strings.Join(names, ",")
}
