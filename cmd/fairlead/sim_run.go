package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/internal/table"
)

type simRunCmd struct {
	simFlags
	policy, backfill, config string
	bridge                   string
	schedule, swf            string
	users                    int
	show                     simShow
}

func simRunCommand(a *app) *cobra.Command {
	s := &simRunCmd{simFlags: simFlags{app: a}}
	c := &cobra.Command{
		Use:   "run (TRACE | --from-history)",
		Short: "Replay a trace under a policy in virtual time",
		Long: `Replay a trace under a policy in virtual time, through the scheduler of the server, and show
when each job would have run, how long users would have waited, and how far each would have been
from its share. The trace is in Standard Workload Format, compressed or not; - is standard
input. The machine has a number of equal processors; with --nodes N they are on N nodes, and a
job that is larger than a node runs on as few nodes as possible, and starts on all of them at once.

Without --config every user has a pool of equal weight. With --config, the placement
rules of the configuration choose the pools: user 12 of the trace is u12, group 3 is g3, executable 5
is the kind e5, and queue 2 the requestor q2. Inconsistent jobs of the trace are left out or changed
by the rules of docs/reference/swf.md, and one line counts them.

--policy frontback simulates a bridge to a queue that knows only priorities. It puts each job into
the queue when it is submitted: at the front or the back, depending on the usage and the share
of its group, or above both for a priority group.

--from-history replays the recent and the waiting tasks of the server instead of a trace:
each task is a job in its pool. A task that has not ended is assumed to run for as long as the
other tasks of its user.

--html writes a report with charts, as one self-contained page. --gantt draws the schedule
below the figures; only the schedule of a few jobs on a few processors is readable. The simulator
only counts processors, so the drawing gives each job the first free ones.`,
		Example: `  fairlead sim run kth-sp2.swf.gz --policy fair --backfill easy
  fairlead sim run trace.swf --config fairlead.yaml --from 30d --to 60d --schedule out.csv
  fairlead sim run trace.swf --policy fairtree --html report.html
  fairlead sim run trace.swf --policy frontback --bridge bridge.yaml
  fairlead sim generate lublin --load 0.9 | fairlead sim run - --json
  fairlead sim run --from-history --last 7d --config next.yaml`,
		Args: s.traceArgs,
		RunE: func(c *cobra.Command, args []string) error { return s.run(c, args) },
	}
	s.flags(c.Flags())
	f := c.Flags()
	f.StringVar(&s.policy, "policy", "", "policy of the root pool (default: that of the configuration, or fair)")
	f.StringVar(&s.bridge, "bridge", "", "with --policy frontback: configuration of a bridge, with its groups (default: the pools of the configuration)")
	f.StringVar(&s.backfill, "backfill", "", "kind of backfilling (default: that of the configuration, or easy)")
	f.StringVar(&s.config, "config", "", "configuration (default: the built-in one)")
	f.StringVar(&s.schedule, "schedule", "", "write the schedule to this CSV file: job,submit,start,end,procs; - is standard output")
	f.StringVar(&s.swf, "swf", "", "write the schedule to this file, as a trace with wait times; - is standard output")
	s.show.flags(f)
	f.IntVar(&s.users, "users", 20, "number of users to list, the ones with the most work first; 0 is all")
	return c
}

func (s *simRunCmd) run(c *cobra.Command, args []string) error {
	ctx, file := c.Context(), s.source(args)
	if s.users < 0 {
		return usagef("--users must be 0 or more, got %d", s.users)
	}
	if err := cmp.Or(s.show.check(s.json), s.checkOutput()); err != nil {
		return err
	}
	policy, err := s.setup(s.config, s.policy, s.backfill)
	if err == nil {
		err = policy.bridgeFile(s.bridge)
	}
	if err != nil {
		return err
	}
	t, err := s.read(ctx, file)
	if err != nil {
		return err
	}
	if _, err := s.show.part.of(t.trace); err != nil {
		return err // before any long computation
	}
	w, err := t.workload(policy)
	if err != nil {
		return err
	}
	began := time.Now()
	r, err := s.simulate(ctx, w, policy)
	if err != nil {
		return err
	}
	if err := s.files(t, r); err != nil {
		return err
	}
	if err := s.show.page(c, args, t, policy, r); err != nil {
		return err
	}
	if s.json {
		return s.printJSON(runJSON{api.Version, policy.name, policy.backfill(), s.seed, traceJSON{file, t.report}, r.Metrics})
	}
	if s.schedule == "-" || s.swf == "-" {
		fmt.Fprintln(s.errs, t.trace.Name+": "+t.report.String())
		return nil
	}
	s.print(t, policy, r, time.Since(began))
	return gantt(s.app.out, &s.show, t, r)
}

// runJSON is the output of --json.
type runJSON struct {
	Version  int       `json:"version"`
	Policy   string    `json:"policy"`
	Backfill string    `json:"backfill"`
	Seed     uint64    `json:"seed"`
	Trace    traceJSON `json:"trace"`
	sim.Metrics
}

type traceJSON struct {
	File string `json:"file"`
	swf.Report
}

// simulate runs a workload, with a progress bar on a terminal.
func (s *simFlags) simulate(ctx context.Context, w *sim.Workload, p *simPolicy) (*sim.Result, error) {
	bar := progressbar.NewOptions(len(w.Jobs), progressbar.OptionSetWriter(plain.Raw(s.errs)), progressbar.OptionSetVisibility(s.terminal()),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription(p.name+"+"+p.backfill()))
	defer bar.Finish()
	return p.run(w, sim.Options{
		Config: p.shares.Sched, Seed: s.seed, Priority: p.shares.NormalPriority(),
		Progress: func(jobs int) error {
			bar.Set(jobs)
			return ctx.Err()
		},
	})
}

// checkOutput refuses several outputs on standard output.
func (s *simRunCmd) checkOutput() error {
	n := 0
	for _, wants := range []bool{s.json, s.schedule == "-", s.swf == "-", s.show.gantt} {
		if wants {
			n++
		}
	}
	if n > 1 && (s.schedule == "-" || s.swf == "-") {
		return usagef("standard output is for one of --schedule -, --swf -, --json and --gantt; give the others a file")
	}
	return nil
}

// files writes the schedule to the files that the flags name.
func (s *simRunCmd) files(t *simTrace, r *sim.Result) error {
	if s.schedule != "" {
		if err := s.write(s.schedule, r.WriteCSV); err != nil {
			return err
		}
	}
	if s.swf == "" {
		return nil
	}
	return s.write(s.swf, func(w io.Writer) error {
		return swf.Write(w, t.comments(), r.Records(t.trace))
	})
}

// write writes to a file, or to standard output for -.
func (s *simRunCmd) write(name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(s.app.out)
	}
	return writePacked(name, write)
}

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
	line("entitlement served", "mean %s, 90%% of the users at least %s; Jain's index %.3f",
		percent(m.Served), percent(m.ServedTenth), m.Jain)
	line("lateness", "jobs start %s after their fair start, and end %s later than on a machine of the user's own",
		lasting(m.FairDelay), lasting(m.Late))
	line("utilization", "%s of %s processors", percent(m.Utilisation), thousands(float64(t.report.Procs)))
	line("wait", "mean %s; half of the jobs at most %s, 95%% at most %s", lasting(m.MeanWait), lasting(float64(m.P50Wait)), lasting(float64(m.P95Wait)))
	line("bounded slowdown", "mean %s, 95%% of the jobs at most %s", short(m.MeanSlowdown), short(m.P95Slowdown))
	line("waited over a day", "%s", jobCount(m.OverDay))
	if m.Unstarted > 0 {
		line("never started", "%s: their pools have no room for them; the figures leave them out", jobCount(m.Unstarted))
	}
	if m.Stopped > 0 {
		line("stopped for others", "%s runs, %s lost", thousands(float64(m.Stopped)), procHours(m.LostSeconds))
	}
	line("idle, but wanted", "%s", procHours(m.IdleWanted))
	fmt.Fprintln(out)
	s.printUsers(m)
}

func (s *simRunCmd) printUsers(m *sim.Metrics) {
	right := func(name string) table.Column { return table.Column{Name: name, Right: true} }
	t := table.New(table.Column{Name: "USER"}, right("JOBS"), right("WORK"), right("SHARE"),
		right("SERVED"), right("DELAY"), right("LATE"), right("WAIT"), right("95%"), right("BSLD"), right("OVER 1D"))
	shown := len(m.Users)
	if s.users > 0 {
		shown = min(shown, s.users)
	}
	for _, u := range m.Users[:shown] {
		t.Row(u.User, u.Jobs, procHours(u.Work), percent(u.Share), percent(u.Served), lasting(u.FairDelay), lasting(u.MeanLate),
			lasting(u.MeanWait), lasting(float64(u.P95Wait)), short(u.MeanSlowdown), u.OverDay)
	}
	t.Print(s.app.out)
	if rest := len(m.Users) - shown; rest > 0 {
		fmt.Fprintf(s.app.out, "%d more users with less work: --users 0 lists all\n", rest)
	}
}
