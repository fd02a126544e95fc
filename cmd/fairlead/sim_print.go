package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/table"
)

func (s *simRunCmd) print(t *simTrace, p *simPolicy, r *sim.Result, took time.Duration) {
	m := &r.Metrics
	out := s.app.out
	fmt.Fprintln(out, t.trace.Name+": "+t.report.String())
	fmt.Fprintf(out, "%s with %s: %s in %s, %s jobs a second\n\n", p.name, p.backfill(), lasting(float64(m.Makespan)), span(took),
		thousands(float64(m.Jobs)/took.Seconds()))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-18s %s\n", name, fmt.Sprintf(format, args...))
	}
	if l := limitsLine(&m.Limits); l != "" {
		line("time limits", "%s", l)
	}
	line("utilisation", "%s of %s processors", percent(m.Utilisation), thousands(float64(t.report.Procs)))
	line("wait", "mean %s; half of the jobs at most %s, 95%% at most %s", lasting(m.MeanWait), lasting(float64(m.P50Wait)), lasting(float64(m.P95Wait)))
	line("bounded slowdown", "mean %s, 95%% of the jobs at most %s", short(m.MeanSlowdown), short(m.P95Slowdown))
	line("waited over a day", "%s", jobCount(m.OverDay))
	if m.Unstarted > 0 {
		line("never started", "%s: their pools have no room for them; the figures leave them out", jobCount(m.Unstarted))
	}
	if m.Stopped > 0 {
		line("stopped for others", "%s runs, %s lost", thousands(float64(m.Stopped)), procHours(m.LostSeconds))
	}
	line("fairness", "Jain's index %.3f; %s is owed most, %s", m.Jain, m.Worst, procHours(m.WorstLag))
	line("idle, but wanted", "%s", procHours(m.IdleWanted))
	fmt.Fprintln(out)
	s.printUsers(m)
}

// limitsLine says what the time limits of pools did to the jobs; "" if nothing.
func limitsLine(l *sim.Limited) string {
	var parts []string
	if l.Refused > 0 {
		parts = append(parts, jobCount(l.Refused)+" left out: above max_time")
	}
	if l.Given > 0 {
		text := jobCount(l.Given) + " without one got that of their pools"
		if l.Ended > 0 {
			text += fmt.Sprintf(", %s of which ended at it", thousands(float64(l.Ended)))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func (s *simRunCmd) printUsers(m *sim.Metrics) {
	right := func(name string) table.Column { return table.Column{Name: name, Right: true} }
	t := table.New(table.Column{Name: "USER"}, right("JOBS"), right("WORK"), right("SHARE"), right("WAIT"), right("95%"), right("BSLD"), right("OVER 1D"), right("LAG"), right("LATE"))
	shown := len(m.Users)
	if s.users > 0 {
		shown = min(shown, s.users)
	}
	for _, u := range m.Users[:shown] {
		t.Row(u.User, u.Jobs, procHours(u.Work), percent(u.Share), lasting(u.MeanWait), lasting(float64(u.P95Wait)), short(u.MeanSlowdown), u.OverDay,
			procHours(u.Lag), lasting(u.MeanLate))
	}
	t.Print(s.app.out)
	if rest := len(m.Users) - shown; rest > 0 {
		fmt.Fprintf(s.app.out, "%d more users with less work: --users 0 lists all\n", rest)
	}
}

// lasting writes a number of seconds as a time span.
func lasting(n float64) string {
	if n == 0 {
		return "0"
	}
	return span(time.Duration(n * float64(time.Second)))
}

// procHours writes processor-seconds as processor-hours.
func procHours(n float64) string {
	switch h := math.Round(n/360) / 10; {
	case h == 0:
		return "0h"
	case h <= -10:
		return "-" + thousands(-h) + "h"
	case h < 10:
		return fmt.Sprintf("%.1fh", h)
	default:
		return thousands(h) + "h"
	}
}

// short writes a ratio as short as it can be told.
func short(f float64) string {
	if f >= 1000 {
		return thousands(f)
	}
	return fmt.Sprintf("%.3g", f)
}

func jobCount(n int) string {
	if n == 1 {
		return "1 job"
	}
	return thousands(float64(n)) + " jobs"
}
