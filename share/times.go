package share

import (
	"slices"
	"strings"
	"time"
)

// Times are the time limits that hold for the jobs of one pool.
type Times struct {
	// Standard is the limit of jobs that name none; 0 or [Never] is none.
	Standard time.Duration
	// Max is the largest limit that a job may have; 0 is any.
	Max time.Duration
	// MaxOf is the pool that says Max, "" for the root.
	MaxOf string
}

// Times returns what holds in the pool at path, which need not be there yet.
func (p *Pool) Times(path string) Times {
	t := Times{}.Under("", p)
	at := ""
	for rest := path; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		i := slices.IndexFunc(p.Pools, func(c Pool) bool { return c.Name == name })
		if i < 0 {
			break
		}
		p, at = &p.Pools[i], Join(at, name)
		t = t.Under(at, p)
	}
	return t
}

// Under returns what holds in the pool p at path, below one in which t holds: the default
// that is said last, and the smallest maximum.
func (t Times) Under(path string, p *Pool) Times {
	if p.Time != 0 {
		t.Standard = p.Time
	}
	if p.MaxTime > 0 && (t.Max == 0 || p.MaxTime < t.Max) {
		t.Max, t.MaxOf = p.MaxTime, path
	}
	return t
}

// Default is the limit of a job that names none; 0 is none. A default from above may be
// larger than what a pool below allows: then it is the maximum, as without a default.
func (t Times) Default() time.Duration {
	switch {
	case t.Standard <= 0:
		return t.Max
	case t.Max > 0:
		return min(t.Standard, t.Max)
	}
	return t.Standard
}
