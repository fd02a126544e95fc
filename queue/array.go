package queue

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
)

// MaxTasks bounds the tasks of one job.
const MaxTasks = 1_000_000

// maxNumber bounds the numbers that an array may use.
const maxNumber = 1<<31 - 1

// maxArray bounds the text of an array, in bytes. The text is stored with the job and parsed again wherever the task
// numbers are needed.
const maxArray = 64 << 10

// Numbers holds the numbers of an array's tasks, as runs with a step: "0-9,20-40:10" is two runs. The task with index i
// has the i-th number.
type Numbers struct {
	runs   []numberRun
	count  int
	sorted []int32 // indexes of the runs by their first numbers, if those do not overlap
}

// numberRun stands for count numbers: first, first+step and so on. The field before counts the numbers in earlier runs.
type numberRun struct{ first, step, count, before int }

func (r numberRun) last() int { return r.first + (r.count-1)*r.step }

// index returns the index of a number within the run, or -1.
func (r numberRun) index(number int) int {
	if d := number - r.first; d >= 0 && d%r.step == 0 && d/r.step < r.count {
		return d / r.step
	}
	return -1
}

// ParseArray reads the array notation of sbatch: numbers and ranges, separated by commas. A range may have a step, as
// in 0-20:5. %10 at the end limits how many tasks run at once. The empty text is one task with the number 0.
func ParseArray(text string) (n Numbers, most int, err error) {
	if text == "" {
		return Numbers{runs: []numberRun{{0, 1, 1, 0}}, count: 1}, 0, nil
	}
	if len(text) > maxArray {
		return n, 0, Invalidf("array", "has %d bytes, but the maximum is %d; number the tasks by ranges, or make several jobs", len(text), maxArray)
	}
	list, limit, limited := strings.Cut(text, "%")
	if limited {
		if most, err = strconv.Atoi(limit); err != nil || most < 1 {
			return n, 0, Invalidf("array", "after %%, give a number of tasks above 0, not %.40q", limit)
		}
	}
	for item := range strings.SplitSeq(list, ",") {
		run, err := parseRun(strings.TrimSpace(item))
		if err != nil {
			return n, 0, err
		}
		run.before = n.count
		if n.count += run.count; n.count > MaxTasks {
			return n, 0, Invalidf("array", "%.40q has more than %d tasks", text, MaxTasks)
		}
		n.runs = append(n.runs, run)
	}
	err = n.checkDistinct()
	return n, most, err
}

func parseRun(item string) (numberRun, error) {
	fail := func() (numberRun, error) {
		return numberRun{}, Invalidf("array", "%.40q is not a number or a range such as 0-99 or 0-20:5, with numbers up to %d", item, maxNumber)
	}
	rest, stepText, stepped := strings.Cut(item, ":")
	firstText, lastText, ranged := strings.Cut(rest, "-")
	first, err := strconv.Atoi(firstText)
	last, step := first, 1
	if err == nil && ranged {
		last, err = strconv.Atoi(lastText)
	}
	if err == nil && stepped {
		step, err = strconv.Atoi(stepText)
	}
	if err != nil || first < 0 || last < first || step < 1 || last > maxNumber || stepped && !ranged {
		return fail()
	}
	return numberRun{first, step, (last-first)/step + 1, 0}, nil
}

// checkDistinct refuses an array in which a number appears twice, because the number names the task. It does not expand
// runs that do not overlap, as in nearly all arrays.
func (n *Numbers) checkDistinct() error {
	order := make([]int32, len(n.runs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return n.runs[a].first - n.runs[b].first })
	apart := true
	for i := 1; i < len(order); i++ {
		apart = apart && n.runs[order[i]].first > n.runs[order[i-1]].last()
	}
	if apart {
		n.sorted = order
		return nil
	}
	all := make([]int, 0, n.count)
	for _, r := range n.runs {
		for i := range r.count {
			all = append(all, r.first+i*r.step)
		}
	}
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			return Invalidf("array", "the number %d appears twice", all[i])
		}
	}
	return nil
}

// Len returns the number of tasks.
func (n Numbers) Len() int { return n.count }

// At returns the number of the task with index i, or -1 if there is no such task.
func (n Numbers) At(i int) int {
	if i < 0 || i >= n.count {
		return -1
	}
	k := sort.Search(len(n.runs), func(k int) bool { return n.runs[k].before > i }) - 1
	r := n.runs[k]
	return r.first + (i-r.before)*r.step
}

// Index returns the index of the task with the number, or -1.
func (n Numbers) Index(number int) int {
	if n.sorted != nil {
		k := sort.Search(len(n.sorted), func(k int) bool { return n.runs[n.sorted[k]].first > number }) - 1
		if k < 0 {
			return -1
		}
		return n.in(n.runs[n.sorted[k]], number)
	}
	for _, r := range n.runs {
		if i := n.in(r, number); i >= 0 {
			return i
		}
	}
	return -1
}

// in returns the index, among all tasks, of a number of a run; -1 if the run lacks the number.
func (n Numbers) in(r numberRun, number int) int {
	if i := r.index(number); i >= 0 {
		return r.before + i
	}
	return -1
}

// parsedArray is an array with its text.
type parsedArray struct {
	text    string
	numbers Numbers
}

// arrays caches the long arrays that were parsed last: stores ask for the numbers of a job once for each of its tasks.
var arrays [16]atomic.Pointer[parsedArray]

// longArray is the smallest length in bytes of an array that is cached.
const longArray = 64

// Numbers returns the numbers of the job's tasks. The job must have passed [Job.Check]: a malformed array panics.
func (j *Job) Numbers() Numbers {
	if j.Gang > 1 {
		return Numbers{runs: []numberRun{{0, 1, j.Gang, 0}}, count: j.Gang, sorted: []int32{0}}
	}
	slot := &arrays[len(j.Array)%len(arrays)]
	if p := slot.Load(); p != nil && p.text == j.Array {
		return p.numbers
	}
	n, _, err := ParseArray(j.Array)
	if err != nil {
		panic("fairlead: unchecked array " + j.Array)
	}
	if len(j.Array) >= longArray {
		slot.Store(&parsedArray{j.Array, n})
	}
	return n
}
