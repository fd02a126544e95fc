package config

import (
	"strings"

	"github.com/fairlead/fairlead/share"
)

// ceiling is the lowest max_running so far, and the pool that sets it; 0 means no limit.
type ceiling struct {
	tasks int
	pool  string
}

// checkCeilings warns of task limits, in a pool or below it, that have no effect because a pool above has a lower
// limit.
func (r *reader) checkCeilings(n *node, p *share.Pool, path string, above ceiling) {
	void := func(name string, tasks int) bool {
		v := n.get(name)
		if v == nil || above.tasks == 0 || tasks <= above.tasks {
			return false
		}
		r.warnf(v, "%s has no effect: max_running of %s is %d", name, clip(above.pool), above.tasks)
		return true
	}
	if !void("max_running", p.MaxRunning) && p.MaxRunning > 0 {
		above = ceiling{p.MaxRunning, path}
	}
	void("max_job_running", p.JobRunning)
	kids := make(map[string]*share.Pool, len(p.Pools))
	for i := range p.Pools {
		kids[p.Pools[i].Name] = &p.Pools[i]
	}
	for _, e := range pairs(n.get("pools")) {
		name := e.key.text
		if kid := kids[name]; kid != nil {
			r.checkCeilings(e.value, kid, strings.TrimPrefix(path+"/"+name, "/"), above)
		}
	}
}
