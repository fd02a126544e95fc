package share

import (
	"slices"
	"strings"
	"time"
)

// Times are the effective time limits for the jobs of one pool.
type Times struct {
	// Standard is the time limit of jobs that set none; 0 and [Never] mean no limit.
	Standard time.Duration
	// Max is the largest time limit that a job may have; 0 means any.
	Max time.Duration
	// MaxOf is the path of the pool that sets Max, "" for the root.
	MaxOf string
}

// Times returns the limits of the pool at path, which need not exist yet.
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

// Under returns the limits of pool p at path, where t are the limits of the pool above. The pool's own
// default replaces the inherited one; of the two maxima the smaller holds.
func (t Times) Under(path string, p *Pool) Times {
	if p.Time != 0 {
		t.Standard = p.Time
	}
	if p.MaxTime > 0 && (t.Max == 0 || p.MaxTime < t.Max) {
		t.Max, t.MaxOf = p.MaxTime, path
	}
	return t
}

// Default is the time limit of a job that sets none; 0 is none. An inherited default above the maximum of the pool
// is cut to the maximum. If there is no default, the maximum is the limit.
func (t Times) Default() time.Duration {
	switch {
	case t.Standard <= 0:
		return t.Max
	case t.Max > 0:
		return min(t.Standard, t.Max)
	}
	return t.Standard
}
