package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// pool is one pool of the configuration to write.
type pool struct {
	name    string
	where   string // in the words of the source, e.g. "queue etl"
	line    int
	comment string
	parent  bool // it is meant to have pools below it, even if it has none yet

	weight   string
	min, max map[string]int64
	running  int // maximum of running tasks; -1: no limit
	maxTime  time.Duration
	policy   string
	reclaim  reclaim

	above *pool
	pools []*pool
	named map[string]*pool
	tried map[string]int // how often a name had to be changed
}

func newRoot(where string) *pool { return &pool{where: where, running: -1} }

func (p *pool) isRoot() bool { return p.above == nil }

func (p *pool) path() string {
	if p.isRoot() {
		return ""
	}
	return share.Join(p.above.path(), p.name)
}

func (p *pool) depth() int {
	n := 0
	for ; p.above != nil; p = p.above {
		n++
	}
	return n
}

// add makes a pool below p. It returns nil if that would be too deep. It may change the name, to make it
// valid and unique.
func (p *pool) add(name, where string, line int) *pool {
	if p.depth() >= share.MaxDepth {
		return nil
	}
	return p.addCalled(p.free(nameOf(name)), where, line)
}

// nameOf returns the name of the pool for a foreign account or queue: the same name if it is valid.
func nameOf(name string) string {
	if share.CheckName(name) == nil {
		return name
	}
	return share.CleanName(name)
}

// addCalled adds a pool with a valid name that no other pool below p has.
func (p *pool) addCalled(clean, where string, line int) *pool {
	c := &pool{name: clean, where: where, line: line, running: -1, above: p}
	if p.named == nil {
		p.named = map[string]*pool{}
	}
	p.named[clean] = c
	p.pools = append(p.pools, c)
	return c
}

// free returns a name similar to the wanted one that no pool below p has.
func (p *pool) free(name string) string {
	if p.named[name] == nil {
		return name
	}
	base := name
	for len(base) > share.MaxSegment-8 {
		_, size := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-size]
	}
	if p.tried == nil {
		p.tried = map[string]int{}
	}
	for p.named[name] != nil {
		p.tried[base]++
		name = fmt.Sprintf("%s-%d", base, p.tried[base]+1)
	}
	return name
}

// find follows a path of names of the configuration.
func (p *pool) find(path string) *pool {
	for path != "" && p != nil {
		var name string
		name, path, _ = strings.Cut(path, "/")
		p = p.named[name]
	}
	return p
}

// all calls f for the pools below p, parents first.
func (p *pool) all(f func(*pool)) {
	for _, c := range p.pools {
		f(c)
		c.all(f)
	}
}

// reconcile removes contradictions that would make the configuration invalid: a minimum above the maximum,
// and minima whose sum exceeds the maximum above them.
func (p *pool) reconcile(n *notes) {
	for _, c := range p.pools {
		c.reconcile(n)
	}
	if p.isRoot() {
		return
	}
	for _, resource := range slices.Sorted(maps.Keys(p.max)) {
		most := p.max[resource]
		if least := p.min[resource]; least > most {
			n.add(p.line, p.where, "min "+resource, amount(least), Changed, "it is above the maximum, so min is %s",
				amount(most))
			p.min[resource] = most
		}
		if sum := p.guaranteedBelow(resource); sum > most {
			n.add(p.line, p.where, "max "+resource, amount(most), Left,
				"the minima below it add up to %s, more than this maximum; raise it or lower the minima, and add it again", amount(sum))
			delete(p.max, resource)
		}
	}
	if p.running == 0 { // nothing ever runs, so nothing can be guaranteed
		p.min = nil
	}
}

// guaranteedBelow returns the sum of the minima of the pools below p.
func (p *pool) guaranteedBelow(resource string) int64 {
	sum := int64(0)
	for _, c := range p.pools {
		sum = min(sum+max(c.min[resource], c.guaranteedBelow(resource)), 1<<61)
	}
	return sum
}

// amount writes a value that is likely to be a number of bytes as a size.
func amount(v int64) string {
	if v >= 1<<20 && v%(1<<20) == 0 {
		return units.FormatSize(v)
	}
	return fmt.Sprint(v)
}

// reclaim says when running tasks are preempted for a pool. A duration of 0 means unset; a negative one means
// never.
type reclaim struct {
	minAfter, shareAfter time.Duration
	below                float64 // percent of the share; 0: unset
	protect              bool
}
