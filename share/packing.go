package share

import (
	"math/bits"
	"slices"
)

// Packing has the widths of some jobs, and computes how many units of a machine the best choice of jobs takes at
// the same time. This is the largest sum of widths within the room (subset sum). An additional job never lowers the
// sum, so no user can lower the entitlement of another by the widths of submitted jobs.
//
// The exact sum costs too much if the room exceeds maxReach, counted in units of the widths' greatest common
// divisor (memory is counted in bytes). For such a room the answer is the whole room, even if greedy filling does
// not fill it.
type Packing struct {
	room   int64
	sum    int64
	widths []widthCount // the widest first
	best   int64        // -1: must be searched again
	unit   int64        // the widths' greatest common divisor at the last search
	full   bool         // no multiple of the unit is a better sum
	taken  []int64      // number of jobs taken of each width, in one search
	scaled []widthCount // widths in units of their greatest common divisor
	reach  []uint64     // one bit for each possible sum
}

// widthCount is the number of jobs of one width. The best sum stays possible while at least kept of them remain.
type widthCount struct{ width, jobs, kept int64 }

// maxReach is the largest room that is searched exactly.
const maxReach = 1 << 17

// NewPacking returns a packing for a machine, or for the part of a machine that jobs may use.
func NewPacking(room int64) Packing { return Packing{room: room} }

// Add adds jobs of a width, or removes them if jobs is negative. No width exceeds the room.
func (p *Packing) Add(width, jobs int64) {
	p.sum += width * jobs
	i, known := slices.BinarySearchFunc(p.widths, width, func(c widthCount, w int64) int { return int(w - c.width) })
	if !known {
		p.widths = slices.Insert(p.widths, i, widthCount{width: width})
	}
	c := &p.widths[i]
	if p.best >= 0 && p.changes(c, jobs) {
		p.best = -1
	}
	if c.jobs += jobs; c.jobs == 0 {
		p.widths = slices.Delete(p.widths, i, i+1)
	}
}

// changes reports whether adding or removing jobs of a width may change the best sum.
func (p *Packing) changes(c *widthCount, jobs int64) bool {
	if jobs < 0 {
		return c.jobs+jobs < c.kept
	}
	return c.jobs < p.room/c.width && !(p.full && c.width%p.unit == 0)
}

// Largest is the largest sum that fits.
func (p *Packing) Largest() int64 {
	if p.sum <= p.room {
		return p.sum
	}
	if p.best < 0 {
		p.best = p.search()
	}
	return p.best
}

// greedyTries is the number of greedy attempts. The first attempt starts with the widest jobs, the second with the
// next narrower ones, and so on. For most queues the first attempt fills the room, and no sum can exceed the room.
const greedyTries = 4

// search counts in units of the widths' greatest common divisor: if all widths are multiples of 64, there are few
// sums.
func (p *Packing) search() int64 {
	unit := int64(0)
	for _, c := range p.widths {
		unit = divisor(unit, c.width)
	}
	u := Packing{room: p.room / unit, taken: p.taken, reach: p.reach, widths: p.scaled[:0]}
	for _, c := range p.widths {
		u.widths = append(u.widths, widthCount{width: c.width / unit, jobs: c.jobs})
	}
	best := u.fill()
	for i := range p.widths {
		p.widths[i].kept = u.taken[i]
	}
	p.unit, p.full = unit, best == u.room
	p.taken, p.reach, p.scaled = u.taken, u.reach, u.widths
	return best * unit
}

func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// fill finds the largest sum. Afterwards some of the jobs counted in taken make up this sum.
func (p *Packing) fill() int64 {
	tries := min(greedyTries, len(p.widths))
	for i := range tries {
		if left := p.greedy(i, 0); left == 0 || p.exchange(left) {
			return p.room
		}
	}
	for i := range tries {
		if left := p.greedy(i, remainder); left < p.room && p.exact(left) == left {
			p.takeRest(left)
			return p.room
		}
	}
	if p.room > maxReach {
		for i, c := range p.widths {
			p.taken[i] = c.jobs // the removal of any job may make another sum the largest
		}
		return p.room
	}
	clear(p.taken)
	best := p.exact(p.room)
	p.takeRest(p.room)
	return best
}

// remainder is a room small enough to find all possible sums quickly.
const remainder = 64 * 64

// greedy fills the room with the widest jobs first, from the i-th width on, until the number of units left is at most
// the argument "enough".
func (p *Packing) greedy(i int, enough int64) (left int64) {
	left = p.room
	p.taken = slices.Grow(p.taken[:0], len(p.widths))[:len(p.widths)]
	clear(p.taken)
	for k := i; k < len(p.widths) && left > enough; k++ {
		c := &p.widths[k]
		p.taken[k] = min(c.jobs, left/c.width)
		left -= p.taken[k] * c.width
	}
	return left
}

// takeRest takes all further jobs that can be part of a sum within the given room.
func (p *Packing) takeRest(room int64) {
	for i := range p.widths {
		c := &p.widths[i]
		p.taken[i] += min(c.jobs-p.taken[i], room/c.width)
	}
}

// exchange replaces a taken job by another one that is wider by exactly the room left, and reports whether there is
// such a pair.
func (p *Packing) exchange(left int64) bool {
	k := len(p.widths) - 1 // the wider of the two
	for i := len(p.widths) - 1; i >= 0; i-- {
		for k > 0 && p.widths[k].width < p.widths[i].width+left {
			k--
		}
		c := &p.widths[k]
		if p.taken[i] > 0 && c.width == p.widths[i].width+left && p.taken[k] < c.jobs {
			p.taken[i]--
			p.taken[k]++
			return true
		}
	}
	return false
}

// exact returns the largest sum within the room that the remaining jobs, which are not taken yet, can make. It
// marks each possible sum by a bit.
func (p *Packing) exact(room int64) int64 {
	p.reach = slices.Grow(p.reach[:0], int(room/64)+1)[:room/64+1]
	clear(p.reach)
	p.reach[0] = 1
	for i, c := range p.widths {
		left := min(c.jobs-p.taken[i], room/c.width)
		for n := int64(1); left > 0; n *= 2 { // 1, 2, 4 ... and the remainder make up every number
			n = min(n, left)
			left -= n
			p.shift(n * c.width)
		}
		if p.reach[room/64]>>(room%64)&1 == 1 {
			return room
		}
	}
	for i := room / 64; ; i-- {
		word := p.reach[i]
		if i == room/64 {
			word &= 1<<(room%64)<<1 - 1
		}
		if word != 0 {
			return i*64 + int64(bits.Len64(word)) - 1
		}
	}
}

// shift marks, for each possible sum, the sum that is larger by the given amount.
func (p *Packing) shift(by int64) {
	words, rest := int(by/64), uint(by%64)
	for i := len(p.reach) - 1; i >= words; i-- {
		more := p.reach[i-words] << rest
		if rest > 0 && i > words {
			more |= p.reach[i-words-1] >> (64 - rest)
		}
		p.reach[i] |= more
	}
}
