package sched

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFifoAgainstSortedSlice compares the chunked list with a plain sorted slice,
// through forks that share its chunks.
func TestFifoAgainstSortedSlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var f, frozen fifo
	var plain, frozenPlain []entry
	epoch, next := uint32(0), int64(0)
	find := func(id int64) (int, bool) {
		return slices.BinarySearchFunc(plain, id, func(e entry, id int64) int { return int(e.id - id) })
	}
	for range 60_000 {
		switch op := rng.IntN(10); {
		case op < 4: // submission
			next += 1 + rng.Int64N(3)
			e := entry{id: next, tasks: 1 + rng.Int32N(3)}
			f.add(e, epoch)
			plain = append(plain, e)
		case op < 5 && next > 0: // a job comes back
			e := entry{id: 1 + rng.Int64N(next), tasks: 1}
			f.add(e, epoch)
			if i, ok := find(e.id); ok {
				plain[i].tasks++
			} else {
				plain = slices.Insert(plain, i, e)
			}
		case op < 8 && f.jobs > 0:
			if got := f.pop(); got != plain[0] {
				t.Fatalf("pop %v, want %v", got, plain[0])
			}
			plain = plain[1:]
		case op < 9 && next > 0:
			id := 1 + rng.Int64N(next)
			want := int32(0)
			if i, ok := find(id); ok {
				want = plain[i].tasks
				plain = slices.Delete(slices.Clone(plain), i, i+1)
			}
			if got := f.remove(id, epoch); got != want {
				t.Fatalf("remove(%d) = %d, want %d", id, got, want)
			}
		case rng.IntN(50) == 0:
			checkFifo(t, &frozen, frozenPlain)
			epoch++
			frozen, frozenPlain = f.clone(), slices.Clone(plain)
		}
		if f.jobs != len(plain) {
			t.Fatalf("%d jobs, want %d", f.jobs, len(plain))
		}
	}
	checkFifo(t, &f, plain)
	checkFifo(t, &frozen, frozenPlain)
}

func checkFifo(t *testing.T, f *fifo, want []entry) {
	t.Helper()
	tasks := int64(0)
	for i, e := range want {
		if i%37 == 0 {
			if jobs, ahead := f.before(e.id); jobs != i || ahead != tasks {
				t.Fatalf("before(%d) = %d jobs, %d tasks; want %d, %d", e.id, jobs, ahead, i, tasks)
			}
		}
		tasks += int64(e.tasks)
	}
	g := f.clone()
	for _, e := range want {
		if got := g.pop(); got != e {
			t.Fatalf("pop %v, want %v", got, e)
		}
	}
	if g.jobs != 0 {
		t.Fatalf("%d jobs left over", g.jobs)
	}
}
