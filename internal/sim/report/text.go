package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/sim"
)

// maxRows is the maximum number of rows of processors in a table for the terminal.
const maxRows = 32

// Text writes a schedule as a table, with a row for each processor and a column for each stretch of time. A
// cell shows the job that runs there:
//
//	proc 2 | 123 | 123 | 126 | 126
//	proc 1 | 123 | 123 | 125 | 126
//	  time |  1h |  2h |  3h |  4h
//
// The number below a column is the time at which the column ends. There may be more processors than rows,
// or more changes than columns that fit the width. Then a cell shows the job with the largest part of the
// cell, and a + if other jobs have a part, too. In that case a line below the table says so. If the
// argument "only" is not nil, the table shows only that part of the schedule.
func Text(w io.Writer, r *sim.Result, width int, only *Stretch) error {
	jobs, procs := runsOf(r), r.Workload.Procs
	spans, err := assign(jobs, procs)
	if err != nil {
		return err
	}
	first, to := extent(r)
	if to <= first {
		_, err := fmt.Fprintln(w, "All jobs have run time 0: nothing to show.")
		return err
	}
	from := first
	if only != nil {
		part, some := only.within(first, to)
		if !some {
			_, err := fmt.Fprintf(w, "No job ran in that time: the schedule ends %s after the first submission.\n",
				plot.Duration(float64(to-first)))
			return err
		}
		from, to = part.From, part.To
		jobs, spans = clipped(jobs, spans, part)
	}
	digits := 2
	for _, j := range jobs {
		digits = max(digits, len(strconv.FormatInt(j.id, 10)))
	}
	height := (procs + maxRows - 1) / maxRows
	names := rowNames(procs, height)
	label := len(names[0])
	for _, n := range names {
		label = max(label, len(n))
	}
	columns := max((width-label)/(digits+1+3), 1)
	step, exact := stretch(jobs, from, to, int64(columns))
	g := grid{first: first, from: from, step: step, height: height, cells: make([][]map[int64]int64, len(names))}
	n := int((to - from + step - 1) / step)
	for r := range g.cells {
		g.cells[r] = make([]map[int64]int64, n)
	}
	for i, j := range jobs {
		g.add(j, spans[i])
	}
	return g.print(w, names, label, digits, exact)
}

// clipped returns the runs within a part of a schedule, cut to that part.
func clipped(jobs []run, spans [][]span, part Stretch) (kept []run, places [][]span) {
	for i, j := range jobs {
		if s, some := part.within(j.start, j.end); some {
			j.start, j.end = s.From, s.To
			kept, places = append(kept, j), append(places, spans[i])
		}
	}
	return kept, places
}

// rowNames returns the names of rows, from the last row down to the first.
func rowNames(procs, height int) []string {
	var names []string
	for first := 1; first <= procs; first += height {
		name := fmt.Sprintf("proc %d", first)
		if last := min(first+height-1, procs); last > first {
			name = fmt.Sprintf("proc %d-%d", first, last)
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	return names
}

// stretch returns the duration of a column: the longest time that cuts no job, if that needs at most the
// given number of columns, and otherwise a round time.
func stretch(jobs []run, from, to, columns int64) (step int64, exact bool) {
	step = to - from
	for _, j := range jobs {
		if j.end > j.start {
			step = gcd(gcd(step, j.start-from), j.end-from)
		}
	}
	if (to-from)/step <= columns {
		return step, true
	}
	return int64(plot.RoundTime(float64(to-from) / float64(columns))), false
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// grid collects the processor time of each job in each cell.
type grid struct {
	first      int64 // submission
	from, step int64
	height     int
	cells      [][]map[int64]int64 // rows from the last processor down, then columns
}

func (g *grid) add(j run, spans []span) {
	for _, s := range spans {
		for p := s.first; p < s.end(); {
			row := p / g.height
			last := min((row+1)*g.height, s.end())
			cells := g.cells[len(g.cells)-1-row]
			for t := j.start; t < j.end; {
				c := (t - g.from) / g.step
				end := min(g.from+(c+1)*g.step, j.end)
				if cells[c] == nil {
					cells[c] = map[int64]int64{}
				}
				cells[c][j.id] += (end - t) * int64(last-p)
				t = end
			}
			p = last
		}
	}
}

func (g *grid) print(w io.Writer, names []string, label, digits int, exact bool) error {
	cell := digits
	if !exact || g.height > 1 {
		cell++
	}
	ends := make([]string, len(g.cells[0]))
	for c := range ends {
		ends[c] = plot.Duration(float64(g.from - g.first + int64(c+1)*g.step))
		cell = max(cell, len(ends[c]))
	}
	var b strings.Builder
	line := func(name string, texts []string) {
		s := fmt.Sprintf("%*s", label, name)
		for _, t := range texts {
			s += fmt.Sprintf(" | %*s", cell, t)
		}
		b.WriteString(strings.TrimRight(s, " ") + "\n")
	}
	for r, row := range g.cells {
		texts := make([]string, len(row))
		for c, had := range row {
			texts[c] = largestOf(had)
		}
		line(names[r], texts)
	}
	line("time", ends)
	if !exact || g.height > 1 {
		fmt.Fprintf(&b, "A cell is %s of %s and shows the job with the largest part; +: other jobs have a part too.\n",
			plot.Duration(float64(g.step)), processors(g.height))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func processors(n int) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%d processors", n)
}

// largestOf returns the job with the largest part of a cell; of equal ones, the one with the lowest number.
func largestOf(had map[int64]int64) string {
	if len(had) == 0 {
		return ""
	}
	var best, part int64
	for id, n := range had {
		if n > part || n == part && id < best {
			best, part = id, n
		}
	}
	s := strconv.FormatInt(best, 10)
	if len(had) > 1 {
		s += "+"
	}
	return s
}
