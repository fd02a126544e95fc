package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/sim"
)

// table is a table of a page. The first column names the row.
type table struct {
	Name    string
	Open    bool
	Note    string
	Columns []column
	Rows    [][]cell
}

type column struct{ Name, Help string }

// cell holds the text of a cell, its sort key, and whether it is the best of its column.
type cell struct {
	Text string
	Sort string
	Best bool
}

func word(s string) cell { return cell{Text: s, Sort: s} }

func number(v float64, write func(float64) string) cell {
	if math.IsNaN(v) {
		return cell{Text: "-", Sort: "-1"}
	}
	return cell{Text: write(v), Sort: strconv.FormatFloat(v, 'g', -1, 64)}
}

// field is a column of the summary: how to write it, and whether larger values are better.
type field struct {
	column
	of    func(*sim.Metrics) float64
	write func(float64) string
	more  bool
}

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }
func hundredths(v float64) string {
	if v >= 1000 {
		return plot.Count(v)
	}
	return fmt.Sprintf("%.2f", v)
}
func thousandths(v float64) string { return fmt.Sprintf("%.3f", v) }
func work(v float64) string        { return plot.Count(v/3600) + " h" }

var fields = []field{
	{column{"served", "part of the entitlement that users received while they had demand: mean of the users"},
		func(m *sim.Metrics) float64 { return m.Served }, percent, true},
	{column{"nine of ten", "the same: nine of ten users received at least this part"},
		func(m *sim.Metrics) float64 { return m.ServedTenth }, percent, true},
	{column{"Jain", "Jain's index of these parts; 1: equal for all"},
		func(m *sim.Metrics) float64 { return m.Jain }, thousandths, true},
	{column{"fair delay", "delay of starts after their fair starts: mean of the users' means"},
		func(m *sim.Metrics) float64 { return m.FairDelay }, plot.Duration, false},
	{column{"late", "how much later jobs ended than on a machine of their user: mean of the users' means"},
		func(m *sim.Metrics) float64 { return m.Late }, plot.Duration, false},
	{column{"utilization", "used part of the processor time from the first submission to the last end"},
		func(m *sim.Metrics) float64 { return m.Utilisation }, percent, true},
	{column{"makespan", "from the first submission to the last end"},
		func(m *sim.Metrics) float64 { return float64(m.Makespan) }, plot.Duration, false},
	{column{"mean wait", "from submission to start"}, func(m *sim.Metrics) float64 { return m.MeanWait }, plot.Duration,
		false},
	{column{"median wait", "half of the jobs waited at most this long"},
		func(m *sim.Metrics) float64 { return float64(m.P50Wait) }, plot.Duration, false},
	{column{"95% wait", "95 % of the jobs waited at most this long"},
		func(m *sim.Metrics) float64 { return float64(m.P95Wait) }, plot.Duration, false},
	{column{"mean slowdown", slowdown}, func(m *sim.Metrics) float64 { return m.MeanSlowdown }, hundredths, false},
}

const slowdown = "(wait + run) / run, at least 1, where runs below 10 s count as 10 s"

// summary returns a table with a row for each run; it marks the best of each column where the runs differ.
func (r *Report) summary() table {
	t := table{Name: "Summary", Open: true, Columns: []column{{"policy", "and backfill"}}}
	for _, f := range fields {
		t.Columns = append(t.Columns, f.column)
	}
	for i := range r.Runs {
		row := []cell{word(r.Runs[i].Name)}
		for _, f := range fields {
			c := number(f.of(&r.Runs[i].Metrics), f.write)
			c.Best = r.best(f, i)
			row = append(row, c)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// best reports whether no run beats this run, as written, and this run beats at least half of the runs.
func (r *Report) best(f field, i int) bool {
	mine, beaten := f.of(&r.Runs[i].Metrics), 0
	for k := range r.Runs {
		other := f.of(&r.Runs[k].Metrics)
		if f.write(other) == f.write(mine) {
			continue
		}
		if (other > mine) == f.more {
			return false
		}
		beaten++
	}
	return beaten > 0 && 2*beaten >= len(r.Runs)
}

// maxUsers is the maximum number of users in a table.
const maxUsers = 300

// userTables returns one table for each run, with the users with the most work first.
func (r *Report) userTables() []table {
	var tables []table
	for i, run := range r.Runs {
		t := table{Name: run.Name, Open: i == 0, Columns: []column{
			{"user", ""}, {"jobs", ""}, {"work", "processor hours"}, {"mean wait", ""}, {"95% wait",
				"95 % of the jobs waited at most this long"},
			{"slowdown", "mean: " + slowdown},
			{"share", "of the machine, on average while the user had demand"},
			{"served", "part of the entitlement that the user received while it had demand"},
			{"fair delay", "mean delay of starts after their fair starts"},
			{"lateness", "mean: how much later jobs ended than on a machine of the user with the size of this share"},
		}}
		users := run.Metrics.Users
		if len(users) > maxUsers {
			t.Note = fmt.Sprintf("The %d users with the most work, of %d.", maxUsers, len(users))
			users = users[:maxUsers]
		}
		for _, u := range users {
			t.Rows = append(t.Rows, []cell{
				word(u.User), number(float64(u.Jobs), plot.Count), number(u.Work, work), number(u.MeanWait,
					plot.Duration), number(float64(u.P95Wait), plot.Duration),
				number(u.MeanSlowdown, hundredths), number(u.Share, percent), number(u.Served, percent),
				number(u.FairDelay, plot.Duration), number(u.MeanLate, plot.Duration)})
		}
		tables = append(tables, t)
	}
	return tables
}
