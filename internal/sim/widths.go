package sim

import (
	"slices"
)

// widths knows the total number of processors that the waiting jobs up to each size ask for: a tree of
// partial sums (Fenwick, 1994) over the sizes in the workload.
type widths struct {
	sizes []int64 // the sizes in the workload, ascending
	rank  []int32 // by job, from 1
	sums  []int64
}

func newWidths(w *Workload) widths {
	known := map[int32]int32{}
	for i := range w.Jobs {
		known[w.Jobs[i].Procs] = 0
	}
	x := widths{rank: make([]int32, len(w.Jobs)), sums: make([]int64, len(known)+1)}
	for procs := range known {
		x.sizes = append(x.sizes, int64(procs))
	}
	slices.Sort(x.sizes)
	for i, procs := range x.sizes {
		known[int32(procs)] = int32(i + 1)
	}
	for i := range w.Jobs {
		x.rank[i] = known[w.Jobs[i].Procs]
	}
	return x
}

func (x *widths) add(job int, procs int64) {
	for i := int(x.rank[job]); i < len(x.sums); i += i & -i {
		x.sums[i] += procs
	}
}

// upTo returns the sum over the jobs that ask for at most procs processors.
func (x *widths) upTo(procs int64) (sum int64) {
	i, found := slices.BinarySearch(x.sizes, procs)
	if found {
		i++
	}
	for ; i > 0; i -= i & -i {
		sum += x.sums[i]
	}
	return sum
}
