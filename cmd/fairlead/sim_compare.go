package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
)

type simCompareCmd struct {
	simFlags
	policies, configs []string
	csv, out          string
	part              ganttPart
}

// comparedByDefault lists the default policies of a comparison.
var comparedByDefault = []string{"fifo", "easy", "fair+easy", "fairtree+easy"}

func simCompareCommand(a *app) *cobra.Command {
	s := &simCompareCmd{simFlags: simFlags{app: a}}
	c := &cobra.Command{
		Use:   "compare (TRACE | --from-history)",
		Short: "Replay a trace under several policies and compare the results",
		Long: `Replay a trace under several policies and compare the results: whose waits are shorter, and
whose are longer. The trace is read once; each run is like fairlead sim run.

--policy lists the runs. A run is a policy with a kind of backfilling, such as fair+easy. A policy
alone uses the backfilling of its configuration. The exception is fifo: alone, it means fifo+fcfs,
strictly in order. A kind of backfilling alone uses the policy fifo: easy is fifo+easy. With
several --config, each configuration runs under each policy of the list, or unchanged if there is
no list.

--out writes a report with charts into a folder, as one self-contained page.`,
		Example: `  fairlead sim compare kth-sp2.swf.gz --policy fifo,easy,conservative,fair+easy,lottery+easy
  fairlead sim compare trace.swf --config now.yaml --config planned.yaml --out compared
  fairlead sim compare --from-history --last 7d --config now.yaml --config next.yaml`,
		Args: s.traceArgs,
		RunE: func(c *cobra.Command, args []string) error { return s.run(c, args) },
	}
	s.flags(c.Flags())
	f := c.Flags()
	f.StringSliceVar(&s.policies, "policy", nil, "policies to compare (default without --config: "+strings.Join(comparedByDefault, ",")+")")
	f.StringArrayVar(&s.configs, "config", nil, "configuration; can be repeated (default: the built-in one)")
	f.StringVar(&s.csv, "csv", "", "write the table to this CSV file")
	f.StringVar(&s.out, "out", "", "folder for the report: charts, the table as CSV, and the command that repeats it")
	s.part.flags(f)
	return c
}

func (s *simCompareCmd) run(cmd *cobra.Command, args []string) error {
	ctx, file := cmd.Context(), s.source(args)
	if s.part.set() && s.out == "" {
		return usagef("--gantt-from and --gantt-to need --out")
	}
	runs, setups, err := s.candidates()
	if err != nil {
		return err
	}
	t, err := s.read(ctx, file)
	if err != nil {
		return err
	}
	only, err := s.part.of(t.trace)
	if err != nil {
		return err
	}
	began := time.Now()
	c := &sim.Comparison{Trace: t.trace.Name, Report: t.report, Runs: runs}
	if err := s.simulateAll(ctx, t, c, setups); err != nil {
		return err
	}
	if s.csv != "" {
		if err := writePacked(s.csv, c.WriteCSV); err != nil {
			return err
		}
	}
	if s.out != "" {
		if err := writeComparison(s.out, c, only, repeated(cmd, args)); err != nil {
			return err
		}
	}
	if s.json {
		return s.printJSON(comparisonJSON(file, s.seed, c))
	}
	if err := s.print(c, time.Since(began)); err != nil || s.out == "" {
		return err
	}
	return s.printFiles()
}

// candidates returns the runs that the flags select, with their policies.
func (s *simCompareCmd) candidates() (runs []sim.Compared, setups []*simPolicy, err error) {
	configs, policies := s.configs, s.policies
	if len(policies) == 0 && len(configs) == 0 {
		policies = comparedByDefault
	}
	if len(policies) == 0 {
		policies = []string{""}
	}
	if len(configs) == 0 {
		configs = []string{""}
	}
	for _, file := range configs {
		for _, spec := range policies {
			root, backfill := splitSpec(spec)
			if _, known := backfillNames()[backfill]; backfill != "" && !known {
				return nil, nil, usagef("--policy %q: %q is not one of the kinds of backfilling: %s", spec, backfill,
					backfillList())
			}
			p, err := s.setup(file, root, backfill)
			if err != nil {
				return nil, nil, err
			}
			name := p.name + "+" + p.backfill()
			if file != "" && (len(configs) > 1 || len(s.policies) == 0) {
				name = strings.TrimSpace(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + " " + name)
			}
			if slices.ContainsFunc(runs, func(r sim.Compared) bool { return r.Name == name }) {
				return nil, nil, usagef("%s would run twice: give configurations different names, and each policy once", name)
			}
			runs = append(runs, sim.Compared{Name: name, Policy: p.name, Backfill: p.backfill(), Config: file})
			setups = append(setups, p)
		}
	}
	return runs, setups, nil
}

// splitSpec splits a specification such as fair+easy; each part may stand alone.
func splitSpec(spec string) (root, backfill string) {
	root, backfill, both := strings.Cut(spec, "+")
	switch {
	case both:
	case root == "fifo":
		backfill = "fcfs"
	case root != "" && !slices.Contains(policy.Names(), root) && backfillNames()[root].String() == root:
		root, backfill = "fifo", root
	}
	return root, backfill
}

// simulateAll does all runs, two at a time if there is more than one processor.
func (s *simCompareCmd) simulateAll(ctx context.Context, t *simTrace, c *sim.Comparison, setups []*simPolicy) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bar := progressbar.NewOptions(len(t.jobs)*len(setups), progressbar.OptionSetWriter(plain.Raw(s.errs)), progressbar.OptionSetVisibility(s.terminal()),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("comparing"))
	defer bar.Finish()
	var done atomic.Int64
	var group sync.WaitGroup
	slots := make(chan struct{}, min(2, runtime.NumCPU()))
	for i, p := range setups {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			told := 0
			r, err := s.one(t, p, func(jobs int) error {
				bar.Set(int(done.Add(int64(jobs - told))))
				told = jobs
				return context.Cause(ctx)
			})
			if err != nil {
				cancel(err)
			}
			c.Runs[i].Result = r
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (s *simCompareCmd) one(t *simTrace, p *simPolicy, progress func(int) error) (*sim.Result, error) {
	w, err := t.workload(p)
	if err != nil {
		return nil, err
	}
	return p.run(w, sim.Options{Config: p.shares.Sched, Seed: s.seed, Priority: p.shares.NormalPriority(), Progress: progress})
}

func (s *simCompareCmd) print(c *sim.Comparison, took time.Duration) error {
	fmt.Fprintln(s.app.out, c.Trace+": "+c.Report.String())
	fmt.Fprintf(s.app.out, "%d runs in %s\n\n", len(c.Runs), span(took))
	right := func(name string) table.Column { return table.Column{Name: name, Right: true} }
	t := table.New(table.Column{Name: "POLICY"}, right("SERVED"), right("90%"), right("JAIN"), right("DELAY"),
		right("LATE"), right("UTIL"), right("WAIT"), right("50%"), right("95%"), right("BSLD"), right("95%"), right("WIDE"),
		right("LONGEST"), right("STARVED"))
	never := 0
	var limits []string
	for _, r := range c.Runs {
		m := &r.Metrics
		never += m.Unstarted
		if l := limitsLine(&m.Limits); l != "" {
			limits = append(limits, r.Name+": time limits: "+l)
		}
		t.Row(r.Name, percent(m.Served), percent(m.ServedTenth), fmt.Sprintf("%.2f", m.Jain),
			lasting(m.FairDelay), lasting(m.Late), percent(m.Utilisation), lasting(m.MeanWait),
			lasting(float64(m.P50Wait)), lasting(float64(m.P95Wait)),
			short(m.MeanSlowdown), short(m.P95Slowdown),
			lasting(m.WideWait), lasting(float64(m.LongestWait)), thousands(float64(m.OverDay)))
	}
	if err := t.Print(s.app.out); err != nil {
		return err
	}
	fmt.Fprint(s.app.out, comparedColumns)
	if slices.ContainsFunc(c.Runs, func(r sim.Compared) bool { return r.Backfill == sched.FirstFit.String() }) {
		fmt.Fprint(s.app.out, firstFitNote)
	}
	for _, l := range limits {
		fmt.Fprintln(s.app.out, l)
	}
	if never > 0 {
		fmt.Fprintf(s.app.out, "%s never started, as their pools have no room for them; the figures leave them out (--json says where)\n", jobCount(never))
	}
	return nil
}

const comparedColumns = "SERVED: part of the entitlement received: mean, and the value that 90% of the users reach; " +
	"JAIN: equality of SERVED;\n" +
	"DELAY: how long after its fair start a job starts; LATE: how much later it ends than on a machine of\n" +
	"the user's own; both are means of the users' means\n" +
	"WAIT and BSLD (bounded slowdown): mean, median and 95th percentile of the jobs; " +
	"STARVED: jobs that waited over a day\n" +
	"WIDE: mean wait of the jobs that ask for a quarter of the machine or more; " +
	"LONGEST: the longest wait of any job\n"

// firstFitNote explains a cost that the means hide.
const firstFitNote = "" +
	"first-fit keeps no room for wide jobs: this shortens the means, which count mostly narrow jobs,\n" +
	"but narrow jobs can pass a wide job forever. WIDE and LONGEST show the cost\n"

// printFiles prints the paths of the written files.
func (s *simCompareCmd) printFiles() error {
	at := func(name string) string { return filepath.Join(s.out, name) }
	_, err := fmt.Fprintf(s.app.out, "plots: %s   table: %s   repeat: %s\n", at(comparePage), at(compareTable), at(compareAgain))
	return err
}

// compareJSON is the output of --json.
type compareJSON struct {
	Version int            `json:"version"`
	Seed    uint64         `json:"seed"`
	Trace   traceJSON      `json:"trace"`
	Runs    []comparedJSON `json:"runs"`
}

type comparedJSON struct {
	Name     string `json:"name"`
	Policy   string `json:"policy"`
	Backfill string `json:"backfill"`
	Config   string `json:"config"`
	sim.Metrics
}

func comparisonJSON(file string, seed uint64, c *sim.Comparison) compareJSON {
	x := compareJSON{Version: api.Version, Seed: seed, Trace: traceJSON{file, c.Report}}
	for _, r := range c.Runs {
		x.Runs = append(x.Runs, comparedJSON{r.Name, r.Policy, r.Backfill, r.Config, r.Metrics})
	}
	return x
}
