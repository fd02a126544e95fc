package sched

import (
	"slices"
	"sort"
	"time"
)

// entry is the header of a waiting job without running tasks.
type entry struct {
	id    int64
	since time.Duration // submission, from agesFrom; not before that of earlier entries
	tasks int32         // waiting tasks
	max   int32         // tasks of the job at the same time; 0 is no limit
}

// chunkSize balances the cost of an insertion in the middle against the number of chunks.
const chunkSize = 64

// chunk is a run of entries in order of id. A chunk of an older epoch is shared with a fork of the scheduler and
// must be copied before a change.
type chunk struct {
	entries []entry
	epoch   uint32
}

// fifo holds waiting jobs in order of id, the order of submission. Adding at the end and taking from the front take
// constant time; adding a job with an old id and removing one from the middle take O(log n). The first chunk is
// stored inline, because most pools have no other.
type fifo struct {
	first chunk
	more  []chunk
	head  int   // number of entries taken from the first chunk
	jobs  int   // number of entries left
	last  int64 // largest id ever added
}

func (f *fifo) front() entry { return f.first.entries[f.head] }

func (f *fifo) pop() entry {
	e := f.first.entries[f.head]
	f.head++
	f.jobs--
	if f.head == len(f.first.entries) {
		f.dropFirst()
	}
	return e
}

// take removes and returns the job, which is usually the first.
func (f *fifo) take(id int64, epoch uint32) entry {
	if f.front().id == id {
		return f.pop()
	}
	ci, i, _ := f.find(id)
	e := f.chunk(ci).entries[i]
	f.remove(id, epoch)
	return e
}

// dropFirst drops the exhausted first chunk, but keeps the memory of the last chunk for later entries.
func (f *fifo) dropFirst() {
	f.head = 0
	if len(f.more) > 0 {
		f.first, f.more[0] = f.more[0], chunk{}
		f.more = f.more[1:]
		return
	}
	f.first.entries = f.first.entries[:0]
}

// while calls the function "more" for one job after the other, by id, until the function returns false.
func (f *fifo) while(more func(id int64) bool) {
	for ci := range f.chunks() {
		for _, e := range f.chunk(ci).entries[f.start(ci):] {
			if !more(e.id) {
				return
			}
		}
	}
}

func (f *fifo) chunks() int { return 1 + len(f.more) }

func (f *fifo) chunk(i int) *chunk {
	if i == 0 {
		return &f.first
	}
	return &f.more[i-1]
}

// start is the index of the first remaining entry of a chunk.
func (f *fifo) start(i int) int {
	if i == 0 {
		return f.head
	}
	return 0
}

// own makes chunk i safe to change in this epoch.
func (f *fifo) own(i int, epoch uint32) *chunk {
	c := f.chunk(i)
	if c.epoch != epoch {
		*c = chunk{slices.Clone(c.entries), epoch}
	}
	return c
}

// find returns the position of id, or its insertion point: the chunk and the index in it.
func (f *fifo) find(id int64) (ci, i int, found bool) {
	ci = sort.Search(f.chunks(), func(k int) bool {
		e := f.chunk(k).entries
		return len(e) > 0 && e[len(e)-1].id >= id
	})
	if ci == f.chunks() {
		return ci, 0, false
	}
	from := 0
	if ci == 0 {
		from = f.head
	}
	e := f.chunk(ci).entries
	i = from + sort.Search(len(e)-from, func(k int) bool { return e[from+k].id >= id })
	return ci, i, i < len(e) && e[i].id == id
}

// add inserts a job at its place, or adds the tasks to a job that is there. If the clock went back between
// submissions, the ages are adjusted to those of the neighbors, so that the order by number is also the order by
// age.
func (f *fifo) add(e entry, epoch uint32) {
	if e.id > f.last {
		f.append(e, epoch)
		return
	}
	ci, i, found := f.find(e.id)
	if !found && ci < f.chunks() {
		e.since = min(e.since, f.chunk(ci).entries[i].since)
		if from := f.start(ci); i > from {
			e.since = max(e.since, f.chunk(ci).entries[i-1].since)
		}
	}
	switch {
	case found:
		f.own(ci, epoch).entries[i].tasks += e.tasks
	case ci == f.chunks():
		f.append(e, epoch)
	default:
		c := f.own(ci, epoch)
		c.entries = slices.Insert(c.entries, i, e)
		if len(c.entries) > 2*chunkSize {
			f.split(ci, epoch)
		}
		f.jobs++
	}
}

func (f *fifo) append(e entry, epoch uint32) {
	f.jobs++
	f.last = max(f.last, e.id)
	last := f.chunks() - 1
	if all := f.chunk(last).entries; len(all) > f.start(last) {
		e.since = max(e.since, all[len(all)-1].since)
	}
	if last == 0 && f.head >= chunkSize/2 && len(f.first.entries) >= chunkSize {
		c := f.own(0, epoch)
		c.entries = c.entries[:copy(c.entries, c.entries[f.head:])]
		f.head = 0
	}
	if len(f.chunk(last).entries) >= chunkSize {
		f.more = append(f.more, chunk{epoch: epoch})
		last++
	}
	c := f.own(last, epoch)
	c.entries = append(c.entries, e)
}

func (f *fifo) split(ci int, epoch uint32) {
	all := f.chunk(ci).entries
	if ci == 0 {
		all, f.head = all[f.head:], 0
	}
	half := len(all) / 2
	*f.chunk(ci) = chunk{slices.Clone(all[:half]), epoch}
	f.more = slices.Insert(f.more, ci, chunk{slices.Clone(all[half:]), epoch})
}

// remove removes a job and returns the number of its waiting tasks.
func (f *fifo) remove(id int64, epoch uint32) int32 {
	ci, i, found := f.find(id)
	if !found {
		return 0
	}
	if ci == 0 && i == f.head {
		return f.pop().tasks
	}
	f.jobs--
	c := f.own(ci, epoch)
	tasks := c.entries[i].tasks
	c.entries = slices.Delete(c.entries, i, i+1)
	if len(c.entries) == 0 {
		f.more = slices.Delete(f.more, ci-1, ci)
	}
	return tasks
}

// clone returns a copy that shares the chunks; both sides copy a chunk before they change it.
func (f *fifo) clone() fifo {
	g := *f
	g.more = slices.Clone(f.more)
	return g
}
