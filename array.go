package fairlead

import (
	"slices"
	"strconv"
	"strings"
)

// MaxTasks bounds the tasks of one job.
const MaxTasks = 1_000_000

// maxNumber bounds the numbers that an array may use.
const maxNumber = 1<<31 - 1

// Numbers are the numbers of an array's tasks, as runs with a step: "0-9,20-40:10" is
// two runs. The task with index i has the i-th number.
type Numbers struct {
	runs  []numberRun
	count int
}

type numberRun struct{ first, step, count int }

// ParseArray reads the array notation of sbatch: numbers and ranges, separated by
// commas; a range may have a step, as in 0-20:5; at the end, %10 limits how many
// tasks run at once. The empty text is one task with the number 0.
func ParseArray(text string) (n Numbers, most int, err error) {
	if text == "" {
		return Numbers{[]numberRun{{0, 1, 1}}, 1}, 0, nil
	}
	list, limit, limited := strings.Cut(text, "%")
	if limited {
		if most, err = strconv.Atoi(limit); err != nil || most < 1 {
			return n, 0, invalid("array", "after %% a number of tasks above 0 is expected, got %.40q", limit)
		}
	}
	for item := range strings.SplitSeq(list, ",") {
		run, err := parseRun(strings.TrimSpace(item))
		if err != nil {
			return n, 0, err
		}
		if n.count += run.count; n.count > MaxTasks {
			return n, 0, invalid("array", "%.40q has more than %d tasks", text, MaxTasks)
		}
		n.runs = append(n.runs, run)
	}
	return n, most, n.checkDistinct()
}

func parseRun(item string) (numberRun, error) {
	fail := func() (numberRun, error) {
		return numberRun{}, invalid("array", "%.40q is not a number or a range such as 0-99 or 0-20:5, with numbers up to %d", item, maxNumber)
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
	return numberRun{first, step, (last-first)/step + 1}, nil
}

// checkDistinct says so if a number appears twice, because the number names the task.
func (n Numbers) checkDistinct() error {
	if len(n.runs) < 2 {
		return nil
	}
	all := make([]int, 0, n.count)
	for i := range n.count {
		all = append(all, n.At(i))
	}
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			return invalid("array", "the number %d appears twice", all[i])
		}
	}
	return nil
}

// Len is how many tasks there are.
func (n Numbers) Len() int { return n.count }

// At is the number of the task with index i.
func (n Numbers) At(i int) int {
	for _, r := range n.runs {
		if i < r.count {
			return r.first + i*r.step
		}
		i -= r.count
	}
	return -1
}

// Index is the index of the task with the number, or -1.
func (n Numbers) Index(number int) int {
	before := 0
	for _, r := range n.runs {
		if d := number - r.first; d >= 0 && d%r.step == 0 && d/r.step < r.count {
			return before + d/r.step
		}
		before += r.count
	}
	return -1
}

// Numbers are the numbers of the job's tasks. The job has been checked before.
func (j *Job) Numbers() Numbers {
	n, _, err := ParseArray(j.Array)
	if err != nil {
		panic("fairlead: unchecked array " + j.Array)
	}
	return n
}
