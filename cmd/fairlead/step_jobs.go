package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/onestep"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

// printStepJobs prints the jobs that a state lists, in the order of their starts, with the terms of their
// priorities.
func printStepJobs(out io.Writer, jobs []*onestep.JobResult) error {
	if len(jobs) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	names := jobs[0].Names()
	columns := []table.Column{{Name: "JOB", Right: true}, {Name: "POOL"}, {Name: "RANK", Right: true}, {Name: "START", Right: true}}
	if len(names) > 0 {
		columns = append(columns, table.Column{Name: "PRIORITY", Right: true})
	}
	for _, name := range names {
		columns = append(columns, table.Column{Name: strings.ToUpper(name), Right: true})
	}
	t := table.New(columns...)
	for _, j := range jobs {
		t.Row(priorityRow(names, []any{j.ID, words.Pool(j.Pool), rankOrNone(j.Rank), j.Start}, j.Priority, j.Terms)...)
	}
	return t.Print(out)
}

func rankOrNone(rank int) string {
	if rank == 0 {
		return "-"
	}
	return fmt.Sprint(rank)
}

// priorityRow adds a priority and its terms to the row of a job.
func priorityRow(names []string, row []any, priority *why.Number, terms map[string]why.Number) []any {
	if len(names) == 0 {
		return row
	}
	if priority == nil {
		row = append(row, "-")
	} else {
		row = append(row, pointsText(*priority))
	}
	for _, name := range names {
		if v, ok := terms[name]; ok {
			row = append(row, pointsText(v))
		} else {
			row = append(row, "-")
		}
	}
	return row
}

// pointsText writes a priority with up to two decimals, enough to distinguish most jobs; --json has all
// digits.
func pointsText(v why.Number) string {
	text := fmt.Sprintf("%.2f", float64(v))
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(text, "0"), "0"), ".")
}
