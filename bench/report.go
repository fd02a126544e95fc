package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// report holds the results of a run.
type report struct {
	At         time.Time `json:"at"`
	Go         string    `json:"go"`
	PostgreSQL string    `json:"postgresql"`
	Cores      int       `json:"cores"`
	LoadBefore string    `json:"load_before"`
	LoadAfter  string    `json:"load_after"`
	Plan       plan      `json:"plan"`
	Stores     []figure  `json:"stores,omitempty"`
	Whole      []path    `json:"whole,omitempty"`
	Latency    []latency `json:"latency,omitempty"`
}

func (r *report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// table holds rows of cells; the cells after the first column are mostly numbers.
type table struct {
	title string
	head  []string
	rows  [][]string
	notes []string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) plain(w io.Writer) error {
	fmt.Fprintf(w, "\n%s\n", t.title)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range append([][]string{t.head}, t.rows...) {
		fmt.Fprintln(tw, strings.Join(cells, "\t")+"\t")
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, n := range t.notes {
		fmt.Fprintln(w, n)
	}
	return nil
}

func (t *table) markdown(w io.Writer) error {
	line := func(cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	fmt.Fprintf(w, "\n%s:\n\n", t.title)
	line(t.head)
	rule := make([]string, len(t.head))
	for i := range rule {
		rule[i] = "---:"
	}
	line(rule)
	for _, cells := range t.rows {
		line(cells)
	}
	_, err := fmt.Fprintln(w)
	for _, n := range t.notes {
		_, err = fmt.Fprintf(w, "* %s\n", n)
	}
	return err
}

func (r *report) tables() []*table {
	var all []*table
	if len(r.Stores) > 0 {
		all = append(all, r.speeds(), r.costs())
	}
	if len(r.Whole) > 0 {
		all = append(all, r.paths())
	}
	if len(r.Latency) > 0 {
		all = append(all, r.latencies())
	}
	return all
}

// cellKey names a figure of a run.
type cellKey struct {
	name  string
	pools int
	condition
}

func (r *report) cells() map[cellKey]figure {
	out := map[cellKey]figure{}
	for _, f := range r.Stores {
		out[cellKey{f.Name, f.Pools, f.condition}] = f
	}
	return out
}

// conditions calls f for each condition, in order.
func (r *report) conditions(f func(condition)) {
	for _, b := range r.Plan.Batches {
		for _, c := range r.Plan.Claimers {
			f(condition{b, c})
		}
	}
}

// speeds compares jobs per second.
func (r *report) speeds() *table {
	t := &table{title: "Submit, lease, finish: jobs per second (median of rounds, ± half of what lies between the least and the most)", head: []string{"batch", "claimers"}}
	for _, p := range r.Plan.Pools {
		t.head = append(t.head, fmt.Sprintf("fairlead, %s pools", thousands(float64(p))))
	}
	t.head = append(t.head, "River", "bare loop", "bare, deletes", "of River", "of bare", "of bare, deletes", "most pools/fewest")
	cells := r.cells()
	first, last := r.Plan.Pools[0], r.Plan.Pools[len(r.Plan.Pools)-1]
	r.conditions(func(c condition) {
		row := []string{fmt.Sprint(c.Batch), fmt.Sprint(c.Claimers)}
		for _, p := range r.Plan.Pools {
			row = append(row, speed(cells[cellKey{"fairlead", p, c}]))
		}
		for _, name := range []string{"river", "bare", "bare-delete"} {
			row = append(row, speed(cells[cellKey{name, last, c}]))
		}
		for _, name := range []string{"river", "bare", "bare-delete"} {
			row = append(row, ratio(cells[cellKey{"fairlead", last, c}].PerSecond, cells[cellKey{name, last, c}].PerSecond))
		}
		t.row(append(row, ratio(cells[cellKey{"fairlead", last, c}].PerSecond, cells[cellKey{"fairlead", first, c}].PerSecond))...)
	})
	for _, c := range contestants {
		t.notes = append(t.notes, c.name+": "+c.about)
	}
	t.notes = append(t.notes, fmt.Sprintf("The ratios, River and the bare loops are measured with %s pools; one pool owns nine jobs in ten, and %s jobs wait all the time.",
		thousands(float64(last)), thousands(float64(r.Plan.Waiting))))
	return t
}

// costs compares the processor time per job.
func (r *report) costs() *table {
	t := &table{title: "Processor time of a job in µs, database + client", head: []string{"batch", "claimers", "fairlead", "River", "bare loop", "bare, deletes"}}
	cells := r.cells()
	last := r.Plan.Pools[len(r.Plan.Pools)-1]
	r.conditions(func(c condition) {
		row := []string{fmt.Sprint(c.Batch), fmt.Sprint(c.Claimers)}
		for _, name := range []string{"fairlead", "river", "bare", "bare-delete"} {
			f := cells[cellKey{name, last, c}]
			row = append(row, fmt.Sprintf("%.0f + %.0f", f.DatabaseCPU, f.ClientCPU))
		}
		t.row(row...)
	})
	return t
}

func speed(f figure) string {
	if f.PerSecond == 0 {
		return "-"
	}
	return fmt.Sprintf("%s ±%s", thousands(f.PerSecond), thousands((f.Most-f.Least)/2))
}

func ratio(a, b float64) string {
	if a == 0 || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// thousands writes a whole number with commas.
func thousands(f float64) string {
	text := fmt.Sprintf("%.0f", f)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
