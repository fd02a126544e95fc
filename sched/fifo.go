package sched

import (
	"slices"
	"sort"
	"time"
)

// entry is the header of a waiting job none of whose tasks runs.
type entry struct {
	id    int64
	since time.Duration // submission, from agesFrom; no earlier than that of the entries before it
	tasks int32         // that wait
	max   int32         // of the job at once; 0 is no limit
}

// chunkSize is a compromise between the cost of an insertion in the middle and the
// number of chunks.
const chunkSize = 64

// chunk is a run of entries in order of id. A chunk of an older epoch is shared
// with a fork of the scheduler and copied before it is changed.
type chunk struct {
	entries []entry
	epoch   uint32
}

// fifo holds waiting jobs in order of id, which is the order of submission. Adding
// at the end and taking from the front take constant time; a job that comes back
// with an old id, and one withdrawn from the middle, take O(log n). The first chunk
// is held in place, because for most pools it is the only one.
type fifo struct {
	first chunk
	more  []chunk
	head  int   // entries taken from the first chunk
	jobs  int   // entries left
	last  int64 // largest id that was ever added
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

// take takes out the job, which is the first in most cases.
func (f *fifo) take(id int64, epoch uint32) entry {
	if f.front().id == id {
		return f.pop()
	}
	ci, i, _ := f.find(id)
	e := f.chunk(ci).entries[i]
	f.remove(id, epoch)
	return e
}

// dropFirst lets go of the exhausted first chunk, but keeps the memory of the last
// one for what comes next.
func (f *fifo) dropFirst() {
	f.head = 0
	if len(f.more) > 0 {
		f.first, f.more[0] = f.more[0], chunk{}
		f.more = f.more[1:]
		return
	}
	f.first.entries = f.first.entries[:0]
}

// while calls for one job after the other, by id, as long as that returns true.
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

// start is the index of the first entry of a chunk that is left.
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

// find returns where id stands or would stand: the chunk and the index within it.
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

// add puts a job in its place. A job that is there gets the further tasks. Where the
// clock went back between submissions, the jobs count as old as the jobs
// beside them: the order by number is also that by age.
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

// remove takes a job out and returns how many of its tasks waited.
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

// clone shares the chunks; both sides copy them before a change.
func (f *fifo) clone() fifo {
	g := *f
	g.more = slices.Clone(f.more)
	return g
}
