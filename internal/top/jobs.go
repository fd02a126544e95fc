package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

var jobSorts = []string{"order", "age", "size", "user", "start"}

// leastWait has room for "runs 4h59m, 19h1m left".
const leastWait = 22

func jobColumns(unit string, width int) []table.Column {
	return []table.Column{
		{Name: "JOB", Right: true}, {Name: "USER", Spare: 1}, {Name: "POOL", Least: width / 8}, {Name: "NAME", Spare: 3},
		{Name: "KIND", Spare: 5}, {Name: words.Unit(unit), Right: true}, {Name: "LIMIT", Right: true, Spare: 4},
		{Name: "ST", Whole: true}, {Name: "AGE", Right: true, Spare: 6}, {Name: "RANK", Right: true, Spare: 2},
		{Name: "START", Whole: true, Spare: 2}, {Name: "WAITING FOR", Least: min(leastWait, 2*width/5)},
	}
}

// drawJobs returns the lines of the queue.
func (m *model) drawJobs(width, height int, focus bool) []string {
	p, list := &m.panes[jobs], m.data.jobs
	columns := jobColumns(list.Summary.Unit, width)
	all := slices.Clone(list.Jobs)
	sortJobs(all, jobSorts[p.sort], list.Summary.Unit)
	rows := make([]row, 0, len(all))
	for i := range all {
		rows = append(rows, row{strconv.FormatInt(all[i].ID, 10), jobCells(&all[i], list)})
	}
	p.set(columns, rows)
	return p.draw(columns, width, height, focus)
}

// sortJobs sorts jobs; they come in the order of their starts.
func sortJobs(all []api.Job, by, unit string) {
	slices.SortStableFunc(all, func(a, b api.Job) int {
		switch by {
		case "age":
			return a.Submitted.Compare(b.Submitted)
		case "size":
			return cmp.Compare(max(1, b.Request[unit])*int64(max(1, b.Gang)), max(1, a.Request[unit])*int64(max(1, a.Gang)))
		case "user":
			return cmp.Compare(a.User, b.User)
		case "start":
			switch {
			case a.StartBy == nil || b.StartBy == nil:
				return cmp.Compare(bit(a.StartBy == nil), bit(b.StartBy == nil))
			}
			return a.StartBy.Compare(*b.StartBy)
		}
		return 0
	})
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// jobCells returns the cells of a job, in the words of fairlead queue.
func jobCells(j *api.Job, list *api.JobList) []string {
	return []string{
		words.JobID(j), clean(j.User), clean(words.Pool(j.Pool)), clean(words.Dash(j.Name)),
		clean(words.Dash(j.Kind)), words.Units(j,
			list.Summary.Unit),
		words.Limit(j.LimitSeconds), words.State(j), words.Span(list.At.Sub(j.Submitted)), words.Rank(j), words.Start(j,
			list.At),
		clean(words.WaitingFor(j, list.At)),
	}
}

// jobsTitle names the shown part of the queue.
func (m *model) jobsTitle() string {
	s := m.data.jobs.Summary
	text := fmt.Sprintf("queue: %d tasks wait, %d run", s.Waiting, s.Running)
	if m.within != "" {
		text = "queue of " + clean(m.within)
	}
	if m.data.next {
		text += fmt.Sprintf(" (running and next starts, %d jobs)", len(m.data.jobs.Jobs))
	}
	return text
}
