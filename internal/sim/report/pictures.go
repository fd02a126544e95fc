package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/sim"
)

// pictures holds the pictures of a report by their contents.
type pictures struct {
	Waits, Depth, Use picture
	Users, Kinds      *picture
	Shares            []chapter
	Gantts            []chapter
	Window            string // the part of the schedule that the Gantt charts show, "" for all of it
}

// chapter holds the pictures of one run.
type chapter struct {
	Name     string
	Open     bool
	Pictures []picture
}

const overTime = "time since the first submission"

func (r *Report) pictures() (*pictures, error) {
	p := &pictures{Waits: both(r.Waits), Depth: both(r.Depth), Use: both(r.Use)}
	if len(r.Runs) > 1 && len(r.Runs[0].Metrics.Users) > 1 {
		users, kinds := both(r.UserWaits), both(r.Kinds)
		p.Users, p.Kinds = &users, &kinds
	}
	for i := range r.Runs {
		c := chapter{Name: r.Runs[i].Name, Open: i == 0}
		for k := range min(maxPools, len(r.Runs[i].Series.Pools)) {
			c.Pictures = append(c.Pictures, both(func(width float64) plot.Figure { return r.Runs[i].Share(k, width) }))
		}
		if len(c.Pictures) > 0 {
			p.Shares = append(p.Shares, c)
		}
	}
	return p, r.gantts(p)
}

// maxPools is the number of pools whose shares over time a report shows.
const maxPools = 4

// Waits draws the distribution of waits, a line for each run.
func (r *Report) Waits(width float64) plot.Figure {
	f := plot.CDF{Title: "Waits", Note: "Part of the jobs that waited at most this long.", Width: width, Height: 380,
		X: plot.Axis{Label: "wait, on a logarithmic scale", Unit: plot.Seconds, Log: true}}
	for _, run := range r.Runs {
		f.Samples = append(f.Samples, plot.Sample{Name: run.Name, Values: waits(run.Result)})
	}
	return f
}

// Depth draws the number of waiting jobs over time, on a logarithmic scale if the lengths of the queues
// differ much.
func (r *Report) Depth(width float64) plot.Figure {
	least, most := math.Inf(1), 0.0
	for _, run := range r.Runs {
		if queue := run.Series.Queue; len(queue) > 0 {
			least, most = min(least, slices.Max(queue)), max(most, slices.Max(queue))
		}
	}
	y := plot.Axis{}
	if least >= 1 && most > 10*least {
		y = plot.Axis{Log: true, From: 1, To: most, Label: "on a logarithmic scale"}
	}
	return r.lines("Waiting jobs", width, y, func(s *sim.Series) []float64 { return s.Queue })
}

// Use draws the used fraction of the machine over time.
func (r *Report) Use(width float64) plot.Figure {
	return r.lines("Processors in use", width, plot.Axis{Unit: plot.Percent, To: 1},
		func(s *sim.Series) []float64 { return s.Utilisation })
}

// lines draws a chart with a line for each run.
func (r *Report) lines(title string, width float64, y plot.Axis, of func(*sim.Series) []float64) plot.Figure {
	f := plot.Chart{Title: title, Width: width, X: plot.Axis{Label: overTime, Unit: plot.Seconds}, Y: y}
	stretches := int(width / 5)
	if len(r.Runs) > 3 {
		stretches = int(width / 12)
	}
	if len(r.Runs) > 0 && len(r.Runs[0].Series.Queue) > 0 {
		s := &r.Runs[0].Series
		f.Note = "Averages over " + plot.Duration(float64(int64(gather(s.Queue, stretches))*s.Step)) + " each."
	}
	for _, run := range r.Runs {
		f.Series = append(f.Series, plot.Series{Name: run.Name, Step: len(r.Runs) == 1, Fill: len(r.Runs) == 1,
			Points: points(&run.Series, of(&run.Series), run.Metrics.Makespan, stretches)})
	}
	return f
}

// Share draws the due and the received service of a top-level pool over time.
func (run Run) Share(pool int, width float64) plot.Figure {
	p := run.Series.Pools[pool]
	line := func(name string, of []float64) plot.Series {
		return plot.Series{Name: name, Step: true, Points: points(&run.Series, of, run.Metrics.Makespan, int(width/6))}
	}
	return plot.Chart{Title: p.Name + " under " + run.Name, Width: width, Height: 220,
		X: plot.Axis{Unit: plot.Seconds}, Y: plot.Axis{Unit: plot.Percent},
		Series: []plot.Series{line("entitled", p.Due), line("used", p.Used)},
		Gap:    &plot.Gap{Less: "below entitlement", More: "above entitlement"}}
}

// UserWaits draws the mean waits of the users with the most work.
func (r *Report) UserWaits(width float64) plot.Figure {
	const most = 42 // bars
	runs, note := r.comparable()
	f := plot.Bars{Title: "Mean wait of the users with the most work", Note: strings.TrimSpace(note), Unit: plot.Seconds,
		Width: width}
	f.Series, f.Styles = r.names(runs)
	users := r.Runs[0].Metrics.Users
	for _, user := range users[:min(len(users), max(3, most/len(runs)))] {
		g := plot.Group{Name: user.User}
		for _, run := range runs {
			k := slices.IndexFunc(run.Metrics.Users, func(u sim.UserMetrics) bool { return u.User == user.User })
			g.Values = append(g.Values, run.Metrics.Users[k].MeanWait)
		}
		f.Groups = append(f.Groups, g)
	}
	return f
}

// maxShown is the maximum number of jobs in the Gantt charts, which show only a part of a long schedule.
const maxShown = 300

// gantts draws the same stretch of time for each run: the stretch from Window.
func (r *Report) gantts(p *pictures) error {
	from, to, all := r.Window()
	first, _ := extent(r.Runs[0].Result)
	if !all {
		p.Window = fmt.Sprintf("%s to %s after the first submission", plot.Duration(float64(from-first)),
			plot.Duration(float64(to-first)))
		if r.Only == nil {
			p.Window += ", around the longest queue of " + r.Runs[0].Name
		}
	}
	keys := heaviest(within(runsOf(r.Runs[0].Result), from, to), 12)
	for i, run := range r.Runs {
		c := chapter{Name: run.Name, Open: i == 0 || len(r.Runs) <= 3}
		g, err := run.gantt(from, to, keys)
		if err != nil {
			return fmt.Errorf("%s: %w", run.Name, err)
		}
		g.Title = "" // the name of the chapter is the title
		c.Pictures = []picture{both(func(width float64) plot.Figure { g.Width = width; return g })}
		p.Gantts = append(p.Gantts, c)
	}
	return nil
}

// Window returns the stretch of time that the Gantt charts show: the part of r.Only that is within the
// schedules, if there is one. Otherwise it is all of a short schedule, or a stretch around the longest queue
// of the first run with at most maxShown runs.
func (r *Report) Window() (from, to int64, all bool) {
	head := r.Runs[0].Result
	first, last := extent(head)
	runs := runsOf(head)
	if r.Only != nil || len(runs) <= maxShown {
		for _, run := range r.Runs {
			_, end := extent(run.Result)
			last = max(last, end)
		}
		if r.Only == nil {
			return first, last, true
		}
		if s, some := r.Only.within(first, last); some {
			return s.From, s.To, s == Stretch{first, last}
		}
		return first, last, true
	}
	peak := first
	if queue := head.Series.Queue; len(queue) > 0 {
		longest := slices.Index(queue, slices.Max(queue))
		peak = first + int64(longest)*head.Series.Step + head.Series.Step/2
	}
	for width := last - first; ; width = width * 9 / 10 {
		from, to = max(first, peak-width/2), min(last, peak+width/2)
		if width < 60 || len(within(runs, from, to)) <= maxShown {
			return from, to, false
		}
	}
}

// within returns the runs that run at some moment between two times.
func within(runs []run, from, to int64) []run {
	var some []run
	for _, j := range runs {
		if j.start < to && j.end > from {
			some = append(some, j)
		}
	}
	return some
}

// Gantt draws the schedule of a run between two times. The users with the most work in the first run have the
// same colors in the charts of all runs.
func (r *Report) Gantt(run Run, from, to int64, width float64) (plot.Figure, error) {
	g, err := run.gantt(from, to, heaviest(within(runsOf(r.Runs[0].Result), from, to), 12))
	g.Width = width
	return g, err
}

// gantt draws the runs on their processors.
func (run Run) gantt(from, to int64, keys []string) (plot.Gantt, error) {
	first, _ := extent(run.Result)
	since := func(t int64) string { return plot.Duration(float64(t - first)) }
	procs := run.Workload.Procs
	g := plot.Gantt{Title: run.Name, Count: procs, Keys: keys,
		X: plot.Axis{Label: overTime, Unit: plot.Seconds, From: float64(from - first), To: float64(to - first)}}
	runs := runsOf(run.Result)
	spans, err := assign(runs, procs)
	if err != nil {
		return g, err
	}
	for i, j := range runs {
		if j.start >= to || j.end <= from || len(spans[i]) == 0 {
			continue
		}
		tip := fmt.Sprintf("job %d of %s: %s on %d processors\nsubmitted %s, waited %s, ran from %s to %s", j.id, j.user,
			plot.Duration(float64(j.end-j.start)), j.procs,
			since(j.submit), plot.Duration(float64(j.start-j.submit)), since(j.start), since(j.end))
		if j.lost {
			tip += "\nstopped in favor of others; it started again later"
		}
		b := plot.Box{Row: spans[i][0].first, Span: spans[i][0].count, From: float64(j.start - first),
			To: float64(j.end - first), Label: fmt.Sprint(j.id), Key: j.user, Tip: tip}
		for _, s := range spans[i][1:] {
			b.Also = append(b.Also, plot.Rows{First: s.first, Count: s.count})
		}
		g.Boxes = append(g.Boxes, b)
	}
	return g, nil
}
