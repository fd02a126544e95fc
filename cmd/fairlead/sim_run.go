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
)

type simRunCmd struct {
	simFlags
	policy, backfill, config string
	bridge                   string
	schedule, swf            string
	users                    int
	show                     simShow
}

func (a *app) simRunCommand() *cobra.Command {
	s := &simRunCmd{simFlags: simFlags{app: a}}
	c := &cobra.Command{
		Use:   "run (TRACE | --from-history)",
		Short: "Replay a trace of jobs under a policy, in virtual time",
		Long: `Replay a trace of jobs under a policy, in virtual time, through the scheduler of the
server: when each job would have run, how long users would have waited, how far each would
have been from its share. The trace is in Standard Workload Format, compressed or not; -
is standard input. The machine is one of so many processors, all alike; with --nodes N they
are on N nodes, and a job that is wider than a node starts on as few as will do, at once.

Without --config every user has a pool of equal weight. With it, jobs go into pools as its
rules say: user 12 of the trace is u12, group 3 is g3, executable 5 is the kind e5, and
queue 2 the requestor q2. What is odd in the trace is left out or changed by stated rules,
and one line says how many: see docs/reference/swf.md.

--policy frontback simulates a bridge: the jobs go at once into a queue that knows only
priorities, to the front, the back or above, as their group has received its fraction or not.

--from-history takes what ran on the server lately, and what waits there, instead of a
trace: each task is a job, in the pool in which it was. A task that has not ended is taken to
run for as long as the others of its user.

--html writes a report with pictures, that needs nothing but itself. --gantt draws the
schedule below the figures, for a few jobs on a few processors. The simulator counts
processors without telling them apart; what is drawn gives each job the first free ones.`,
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
	f.StringVar(&s.policy, "policy", "", "how the root divides (default: as the configuration says, or fair)")
	f.StringVar(&s.bridge, "bridge", "", "with --policy frontback: file of a bridge, with its groups (default: the pools of the configuration)")
	f.StringVar(&s.backfill, "backfill", "", "how jobs are fitted to the machine (default: as the configuration says, or first-fit)")
	f.StringVar(&s.config, "config", "", "configuration (default: the built-in one)")
	f.StringVar(&s.schedule, "schedule", "", "file for the schedule, as CSV: job,submit,start,end,procs; - is standard output")
	f.StringVar(&s.swf, "swf", "", "file for the schedule, as a trace with wait times; - is standard output")
	s.show.flags(f)
	f.IntVar(&s.users, "users", 20, "how many users the table lists, those with most work first; 0 is all")
	return c
}

func (s *simRunCmd) run(c *cobra.Command, args []string) error {
	ctx, file := c.Context(), s.source(args)
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
		return err // before anything long is done
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
	return s.gantt(&s.show, t, r)
}

// runJSON is what --json prints.
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

// simulate runs a workload, with a bar where somebody looks.
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

// checkOutput refuses several things on one standard output.
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

// files writes the schedule as the flags say.
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

// write writes a file, or to standard output.
func (s *simRunCmd) write(name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(s.app.out)
	}
	return writePacked(name, write)
}
