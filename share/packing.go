package share

import (
	"math/bits"
	"slices"
)

// Packing knows the widths of some jobs, and how many units of a machine a choice of
// them can take at the same time: the largest sum of widths that is not above the room
// (subset sum). A further job never makes it smaller, so nobody can lower what another is
// entitled to by the widths of what it submits.
//
// Where the room has more than maxReach units of the widths' greatest common divisor, and filling up does
// not find a full room, the answer is the room: the exact sum would cost too much. Such a unit is bytes of memory.
type Packing struct {
	room   int64
	sum    int64
	widths []widthCount // the widest first
	best   int64        // -1: to be found again
	unit   int64        // the widths' greatest common divisor when it was found
	full   bool         // nothing that is a multiple of the unit is better
	taken  []int64      // jobs by width, of a try
	scaled []widthCount // widths in units of their greatest common divisor
	reach  []uint64     // a bit for each sum that is possible
}

// widthCount is how many jobs of a width there are. The best sum stays possible while there are kept.
type widthCount struct{ width, jobs, kept int64 }

// maxReach bounds the search for the exact sum.
const maxReach = 1 << 17

// NewPacking returns a packing for a machine, or for the part of it that jobs may have.
func NewPacking(room int64) Packing { return Packing{room: room} }

// Add counts jobs of a width in, or out if jobs is negative. None is wider than the room.
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

// changes reports whether the best sum may be another one with further jobs of a width, or with fewer.
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

// greedyTries is how often filling up from the widest job on is tried, each time from the
// next width. That fills the room for most queues, and nothing is above that.
const greedyTries = 4

// search counts in units of the widths' greatest common divisor: where all widths are
// multiples of 64, there are few sums.
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

// fill finds the largest sum. Then some of the jobs that taken has by width make this sum.
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
			p.taken[i] = c.jobs // any that leaves may make another sum the largest
		}
		return p.room
	}
	clear(p.taken)
	best := p.exact(p.room)
	p.takeRest(p.room)
	return best
}

// remainder is a room in which all possible sums are found fast.
const remainder = 64 * 64

// greedy fills the room from the i-th width on, the widest first, until no more than an amount is left.
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

// takeRest takes all further jobs that can be part of a sum up to a room.
func (p *Packing) takeRest(room int64) {
	for i := range p.widths {
		c := &p.widths[i]
		p.taken[i] += min(c.jobs-p.taken[i], room/c.width)
	}
}

// exchange reports whether a job that was taken can give way to one that was not, which is
// wider by just the room that is left.
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

// exact notes all sums up to a room that are possible with the jobs that are not taken, width by width, in a bit each.
func (p *Packing) exact(room int64) int64 {
	p.reach = slices.Grow(p.reach[:0], int(room/64)+1)[:room/64+1]
	clear(p.reach)
	p.reach[0] = 1
	for i, c := range p.widths {
		left := min(c.jobs-p.taken[i], room/c.width)
		for n := int64(1); left > 0; n *= 2 { // 1, 2, 4 ... and the rest make every number
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

// shift adds to the possible sums the sums that are larger by an amount.
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
