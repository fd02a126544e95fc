package sim

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/fairlead/fairlead/internal/sim/swf"
)

// Comparison holds the results of one trace under several policies.
type Comparison struct {
	Trace  string
	Report swf.Report // of jobs that were omitted or changed
	Runs   []Compared
}

// Compared is one of the runs of a comparison.
type Compared struct {
	Name     string // of the run, such as fair+easy
	Policy   string // of the root
	Backfill string
	Config   string // file; "": the built-in one
	*Result
}

// WriteCSV writes the table of a comparison, times in seconds.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{
		"run", "policy", "backfill", "config", "jobs", "unstarted", "makespan", "utilisation", "mean_wait", "p50_wait", "p95_wait",
		"mean_bounded_slowdown", "p95_bounded_slowdown", "served", "served_p10", "jain", "mean_fair_delay", "mean_late",
		"waited_over_a_day", "idle_while_demand_proc_seconds", "stopped", "mean_wait_wide", "longest_wait",
	})
	for _, r := range c.Runs {
		m := &r.Metrics
		row := []string{r.Name, r.Policy, r.Backfill, r.Config}
		for _, v := range []any{
			m.Jobs, m.Unstarted, m.Makespan, m.Utilisation, m.MeanWait, m.P50Wait, m.P95Wait, m.MeanSlowdown, m.P95Slowdown,
			m.Served, m.ServedTenth, m.Jain, m.FairDelay, m.Late, m.OverDay, m.IdleWanted, m.Stopped,
			m.WideWait, m.LongestWait,
		} {
			if f, ok := v.(float64); ok {
				v = strconv.FormatFloat(f, 'f', 6, 64)
			}
			row = append(row, fmt.Sprint(v))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}
