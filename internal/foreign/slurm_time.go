package foreign

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/units"
)

// timeLimit reads MaxWall, which is in minutes. In Slurm what is nearest to the user counts,
// here the smallest on the way.
func (s *slurm) timeLimit(p *pool, line int, where string, x setting) {
	d, err := units.ParseTimeLimit(x.value)
	if err != nil || d <= 0 || d > fairlead.MaxLimit {
		s.add(line, where, x.name, x.value, Left, "it is not a time limit from a minute to ten years")
		return
	}
	for a := p.above; a != nil; a = a.above {
		if a.maxTime > 0 && a.maxTime < d {
			s.add(line, where, x.name, x.value, Changed, "it is above the max_time %s of %s, which counts for all below; raise that one if this is to hold", a.time(), plainText(a.where, 60))
			return
		}
	}
	p.maxTime = d
	s.add(line, where, x.name, x.value, Changed, "max_time: %s; a job that asks for more is refused at once, and one that names no limit gets this one", p.time())
}

// time is the largest limit as a configuration has it, "" for none.
func (p *pool) time() string {
	if p.maxTime == 0 {
		return ""
	}
	return units.FormatDuration(p.maxTime)
}
