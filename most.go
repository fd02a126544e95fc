package fairlead

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cluster"
)

// aboveMost says which pool on the way of a job may never have as much as the job asks for at
// once, and what it may have; "" if there is none. A maximum of 0 closes a pool for a while,
// and says nothing about a job.
func (l *Loop) aboveMost(h Header) string {
	a, _ := l.requestOf(h)
	ask := cluster.WithTypes(a)
	tasks := int64(max(1, h.Gang))
	segments := strings.Split(h.Pool, "/")
	for n := len(segments); n >= 0; n-- {
		path := strings.Join(segments[:n], "/")
		id, known := l.core.Lookup(path)
		if !known {
			continue
		}
		most, some := l.core.Limits(id)
		if !some {
			continue
		}
		for _, running := range []int{most.Tasks, most.JobTasks} {
			if h.Gang > 1 && running > 0 && h.Gang > running {
				return fmt.Sprintf("its %d tasks start all at once, and %s may run %d%s", h.Gang, rootName(path), running, fewer(h, int64(running)))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(most.Max)) {
			if m, need := most.Max[name], tasks*ask[name]; m > 0 && need > m {
				return fmt.Sprintf("it asks for %s%s, and %s may have %s%s", amount(name, need), atOnceText(h), rootName(path), quantity(name, m), lessOf(h, name, ask[name], m))
			}
		}
	}
	return ""
}

func atOnceText(h Header) string {
	if h.Gang > 1 {
		return " at once"
	}
	return ""
}

// lessOf is what to ask for instead, of a resource of which there is so much.
func lessOf(h Header, name string, each, most int64) string {
	if h.Gang > 1 {
		return fewer(h, most/each)
	}
	return "; ask for " + quantity(name, most) + " or less, or for another pool"
}

// fewer is the advice to start fewer tasks at once.
func fewer(h Header, tasks int64) string {
	switch {
	case tasks < 1:
		return "; ask for less, or for another pool"
	case h.Spread:
		return fmt.Sprintf("; use -N %d, or ask for less or for another pool", tasks)
	}
	return fmt.Sprintf("; use -n %d, or ask for less or for another pool", tasks)
}
