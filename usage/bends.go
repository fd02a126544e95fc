package usage

import "math"

// bends are the levels, in order, at which the rates of a fluid start or stop rising. They are a treap (Aragon
// and Seidel, "Randomized search trees", 1989) whose nodes hold sums. So logarithmic time suffices to find the
// level at which all rates add up to a capacity. Each change recomputes the sums on the path up, so no rounding
// error builds up. The caller numbers the nodes.
type bends struct {
	root  int32
	nodes []bendNode
}

type bendNode struct {
	level, slope        float64
	sumSlope, sumSlopes float64 // sums over the subtree: of slopes, and of slopes x levels
	left, right         int32   // -1: none
	priority            uint32
	in                  bool
}

func newBends() bends { return bends{root: -1} }

func (b *bends) less(i, k int32) bool {
	x, y := &b.nodes[i], &b.nodes[k]
	return x.level < y.level || x.level == y.level && i < k
}

func (b *bends) add(i int32) {
	n := &b.nodes[i]
	n.sumSlope, n.sumSlopes = n.slope, n.slope*n.level
	for _, c := range []int32{n.left, n.right} {
		if c >= 0 {
			n.sumSlope += b.nodes[c].sumSlope
			n.sumSlopes += b.nodes[c].sumSlopes
		}
	}
}

// insert adds node i at the level at which the total slope changes by "slope".
func (b *bends) insert(i int32, level, slope float64) {
	for int(i) >= len(b.nodes) {
		k := uint32(len(b.nodes)) * 2654435769 // spread by multiplication (Knuth, 6.4)
		k ^= k >> 15
		b.nodes = append(b.nodes, bendNode{priority: k * 2246822519})
	}
	n := &b.nodes[i]
	n.level, n.slope, n.left, n.right, n.in = level, slope, -1, -1, true
	b.root = b.insertBelow(b.root, i)
}

func (b *bends) insertBelow(at, i int32) int32 {
	switch {
	case at < 0:
		b.add(i)
		return i
	case b.nodes[i].priority > b.nodes[at].priority:
		b.nodes[i].left, b.nodes[i].right = b.split(at, i)
		b.add(i)
		return i
	case b.less(i, at):
		b.nodes[at].left = b.insertBelow(b.nodes[at].left, i)
	default:
		b.nodes[at].right = b.insertBelow(b.nodes[at].right, i)
	}
	b.add(at)
	return at
}

// split divides a subtree into the nodes before i and the nodes after i.
func (b *bends) split(at, i int32) (before, after int32) {
	if at < 0 {
		return -1, -1
	}
	n := &b.nodes[at]
	if b.less(at, i) {
		n.right, after = b.split(n.right, i)
		before = at
	} else {
		before, n.left = b.split(n.left, i)
		after = at
	}
	b.add(at)
	return before, after
}

// remove removes node i, if it is in the treap.
func (b *bends) remove(i int32) {
	if int(i) < len(b.nodes) && b.nodes[i].in {
		b.root = b.removeBelow(b.root, i)
		b.nodes[i].in = false
	}
}

func (b *bends) removeBelow(at, i int32) int32 {
	n := &b.nodes[at]
	switch {
	case at == i:
		return b.merge(n.left, n.right)
	case b.less(i, at):
		n.left = b.removeBelow(n.left, i)
	default:
		n.right = b.removeBelow(n.right, i)
	}
	b.add(at)
	return at
}

func (b *bends) merge(l, r int32) int32 {
	switch {
	case l < 0:
		return r
	case r < 0:
		return l
	case b.nodes[l].priority > b.nodes[r].priority:
		b.nodes[l].right = b.merge(b.nodes[l].right, r)
		b.add(l)
		return l
	}
	b.nodes[r].left = b.merge(l, b.nodes[r].left)
	b.add(r)
	return r
}

// level returns the level at which the sum of the rates equals the capacity. The argument "least" is their sum at level
// 0. The level is infinite if the sum never reaches the capacity.
func (b *bends) level(least, capacity float64) float64 {
	if least >= capacity {
		return 0
	}
	slope, slopes := 0.0, 0.0
	for at := b.root; at >= 0; {
		n := &b.nodes[at]
		s, ss := slope, slopes
		if n.left >= 0 {
			s += b.nodes[n.left].sumSlope
			ss += b.nodes[n.left].sumSlopes
		}
		if least+s*n.level-ss >= capacity {
			at = n.left
			continue
		}
		slope, slopes = s+n.slope, ss+n.slope*n.level
		at = n.right
	}
	if slope <= 1e-12 {
		return math.Inf(1)
	}
	return (capacity - least + slopes) / slope
}

// between calls visit for all nodes with levels from low to high, inclusive.
func (b *bends) between(low, high float64, visit func(i int32)) { b.visit(b.root, low, high, visit) }

func (b *bends) visit(at int32, low, high float64, visit func(i int32)) {
	if at < 0 {
		return
	}
	n := &b.nodes[at]
	if n.level >= low {
		b.visit(n.left, low, high, visit)
	}
	if n.level >= low && n.level <= high {
		visit(at)
	}
	if n.level <= high {
		b.visit(n.right, low, high, visit)
	}
}
