package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bench"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/tempdir"
	"github.com/fairlead/fairlead/sched"
)

type benchCmd struct {
	*app
	only  []string
	quick bool
	full  bool
	json  bool
	dir   string
}

func benchCommand(a *app) *cobra.Command {
	b := &benchCmd{app: a}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast fairlead is on this machine",
		Long: `Measure how fast fairlead is on this machine. The parts are:

  decisions, policies, nodes  decisions per second on one core, under every policy and on many nodes
  replay                      the simulator with a generated workload
  submissions                 durable submissions
  cycles                      jobs from submission to end, compared with a bare loop: a queue of one table
                              in the same database
  why                         answers to fairlead why while many jobs wait
  processes                   empty processes through a server and an agent`,
		Example: "  fairlead bench --quick\n  fairlead bench --only decisions --full --json\n  fairlead bench --only nodes",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return b.run(c.Context()) },
	}
	f := c.Flags()
	f.StringSliceVar(&b.only, "only", nil, "parts to measure: decisions, policies, nodes, replay, submissions, cycles, why, processes")
	f.BoolVar(&b.quick, "quick", false, "smaller and faster, but less accurate")
	f.BoolVar(&b.full, "full", false, "include ten million waiting jobs (4 GiB of memory)")
	f.BoolVar(&b.json, "json", false, "print JSON")
	f.StringVar(&b.dir, "dir", "", "directory for the databases, on the disk to measure (default: a temporary one)")
	return c
}

// part is one measurement.
type part struct {
	group, name string
	run         func(ctx context.Context, dir string) ([]bench.Result, error)
}

func (b *benchCmd) run(ctx context.Context) error {
	dir, remove, err := tempdir.New(b.dir, "fairlead-bench-")
	if err != nil {
		return err
	}
	defer remove()
	parts, err := b.parts()
	if err != nil {
		return err
	}
	report := bench.NewReport()
	bar := progressbar.NewOptions(len(parts), progressbar.OptionSetWriter(plain.Raw(b.errs)), progressbar.OptionSetVisibility(b.terminal()),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("measuring"))
	for _, p := range parts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		bar.Describe(p.name)
		results, err := p.run(ctx, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		report.Results = append(report.Results, results...)
		bar.Add(1)
	}
	bar.Finish()
	if b.json {
		return b.printJSON(report)
	}
	return b.print(report)
}

func (b *benchCmd) print(r *bench.Report) error {
	t := table.New(table.Column{Name: "MEASURED"}, table.Column{Name: "WITH"}, table.Column{Name: "PER SECOND", Right: true},
		table.Column{Name: "CPU EACH", Right: true}, table.Column{Name: "COMPARED"}, table.Column{Name: "GOAL"})
	for _, x := range r.Results {
		compared, cpu := "", "-"
		if x.Beside != "" {
			compared = fmt.Sprintf("%.2f of %s", x.Ratio, x.Beside)
		}
		if x.CPU > 0 {
			cpu = fmt.Sprintf("%.2f µs", x.CPU*1e6)
		}
		t.Row(x.Name, x.Detail, thousands(x.PerSecond), cpu, compared, x.Goal)
	}
	return t.Print(b.out)
}

// thousands writes a whole number with commas.
func thousands(f float64) string {
	text := fmt.Sprintf("%.0f", f)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func (b *benchCmd) parts() ([]part, error) {
	scale := func(n int) int {
		if b.quick {
			return n / 10
		}
		return n
	}
	var all []part
	for _, pools := range []int{10, 1000, 100_000} {
		waiting := []int{10_000, 1_000_000}
		if b.full {
			waiting = append(waiting, 10_000_000)
		}
		for _, n := range waiting {
			all = append(all, part{"decisions", fmt.Sprintf("decisions: fair, %d pools, %d waiting", pools, n), func(context.Context, string) ([]bench.Result, error) {
				r, err := bench.Decisions("fair", pools, n, scale(1_000_000))
				return []bench.Result{r}, err
			}})
		}
	}
	all = append(all, part{"policies", "policies", func(context.Context, string) ([]bench.Result, error) {
		return bench.Policies(100_000, 1_000_000, scale(500_000))
	}})
	for _, x := range [][3]int{{10, 10, 10}, {1000, 10, 10}, {10_000, 10, 10}, {1000, 10, 40}, {1000, 100, 10}} {
		nodes, pools, requests := x[0], x[1], x[2]
		all = append(all, part{"nodes", fmt.Sprintf("nodes: %d, %d requests", nodes, requests), func(context.Context, string) ([]bench.Result, error) {
			r, err := bench.Nodes(nodes, pools, requests, 20_000, scale(500_000))
			return []bench.Result{r}, err
		}})
	}
	for _, x := range []struct {
		policy   string
		backfill sched.Backfill
	}{{"fifo", sched.FCFS}, {"fifo", sched.EASY}, {"fifo", sched.Conservative}, {"fair", sched.EASY}, {"fairtree", sched.EASY}} {
		all = append(all, part{"replay", fmt.Sprintf("replay: %s with %v", x.policy, x.backfill), func(context.Context, string) ([]bench.Result, error) {
			r, err := bench.Replay(x.policy, x.backfill, scale(50_000))
			return []bench.Result{r}, err
		}})
	}
	for _, s := range [][2]int{{1, 1}, {16, 1}, {16, 10}} {
		all = append(all, part{"submissions", fmt.Sprintf("submissions: %d clients", s[0]), func(ctx context.Context, dir string) ([]bench.Result, error) {
			r, err := bench.Submissions(ctx, dir, s[0], s[1], scale(min(100_000, 20_000*s[0]*s[1])))
			return []bench.Result{r}, err
		}})
	}
	for _, batch := range []int{10, 100, 1000} {
		all = append(all, part{"cycles", fmt.Sprintf("cycles: batches of %d", batch), func(ctx context.Context, dir string) ([]bench.Result, error) {
			return bench.Cycles(ctx, dir, batch, scale(min(240_000, 6000*batch)))
		}})
	}
	for _, policy := range []string{"fair", "fifo"} {
		all = append(all, part{"why", "why: among many, " + policy, func(ctx context.Context, dir string) ([]bench.Result, error) {
			return b.whyAmong(ctx, dir, policy, scale(100_000))
		}})
	}
	all = append(all, part{"processes", "processes", func(ctx context.Context, dir string) ([]bench.Result, error) {
		r, err := b.processes(ctx, dir, scale(20_000))
		return []bench.Result{r}, err
	}})
	return b.choose(all)
}

func (b *benchCmd) choose(all []part) ([]part, error) {
	if len(b.only) == 0 {
		return all, nil
	}
	var chosen []part
	for _, o := range b.only {
		n := len(chosen)
		for _, p := range all {
			if p.group == o {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == n {
			return nil, usagef("--only: %q is not one of decisions, policies, nodes, replay, submissions, cycles, why, processes", o)
		}
	}
	return chosen, nil
}

// processes measures processes that do nothing, from submission to end, through a server and an agent with
// SQLite.
func (b *benchCmd) processes(ctx context.Context, dir string, n int) (bench.Result, error) {
	x, client, stop, err := b.quietServer(ctx, filepath.Join(dir, "processes"), config.Default())
	if err != nil {
		return bench.Result{}, err
	}
	defer stop()
	const size = 2000
	for done := 0; done < n; done += size {
		specs := make([]api.Spec, min(size, n-done))
		for i := range specs {
			specs[i] = api.Spec{Argv: []string{"/bin/true"}, Pool: fmt.Sprint("pool", i%10)}
		}
		if _, err := client.Jobs.Submit(ctx, api.SubmitRequest{Jobs: specs}); err != nil {
			return bench.Result{}, err
		}
	}
	began, before := time.Now(), x.loop.Stats().Finished
	for x.loop.Stats().Finished < uint64(n) {
		if ctx.Err() != nil {
			return bench.Result{}, ctx.Err()
		}
		time.Sleep(5 * time.Millisecond)
	}
	left := float64(uint64(n) - before)
	return bench.Result{
		Name: "processes that do nothing", Detail: "through a server and an agent, SQLite", PerSecond: left / time.Since(began).Seconds(), Goal: ">= 500/s",
	}, nil
}

// quietServer runs a server and an agent in this process, for measurements.
func (b *benchCmd) quietServer(ctx context.Context, dir string, c *config.Config) (*instance, *api.Client, func(), error) {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, nil, nil, err
	}
	o := instanceOptions{
		config: c, database: filepath.Join(dir, "fairlead.db"), storeName: "temporary",
		socket: socket.Options{Path: filepath.Join(dir, "s"), Mode: 0o600, GID: -1}, lease: time.Minute, log: b.logger(12, "text"),
	}
	x, err := newInstance(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	client, err := api.Dial(o.socket.Path)
	if err != nil {
		return nil, nil, nil, errors.Join(err, x.stop())
	}
	work := agentOptions{name: "bench", cpus: 16, dir: filepath.Join(dir, "agent"), drain: time.Second}
	ao, err := work.options(ctx, client, o.log)
	if err != nil {
		client.Close()
		return nil, nil, nil, errors.Join(err, x.stop())
	}
	ao.AllowRoot = true
	joined, ended := make(chan struct{}, 1), make(chan error, 1)
	ao.Joined = func() { joined <- struct{}{} }
	work2, cancel := context.WithCancel(ctx)
	go func() { ended <- agent.Run(work2, ao) }()
	stop := func() { cancel(); <-ended; client.Close(); x.stop() }
	select {
	case <-joined:
		return x, client, stop, nil
	case err := <-ended:
		ended <- err
		stop()
		return nil, nil, nil, fmt.Errorf("the agent: %w", err)
	}
}

// whyAmong measures the time of why among many waiting jobs, through a server: without an estimate and with
// one. It measures the first answer of each sort, before the timetable exists, and later answers.
func (b *benchCmd) whyAmong(ctx context.Context, dir, policy string, waiting int) ([]bench.Result, error) {
	c := config.Default()
	c.Shares.Sched.Root.Policy, c.Shares.Sched.Backfill = policy, sched.EASY
	x, client, stop, err := b.quietServer(ctx, filepath.Join(dir, "why-"+policy), c)
	if err != nil {
		return nil, err
	}
	defer stop()
	rng := rand.New(rand.NewPCG(1, 1))
	ids, err := manyWait(ctx, client, waiting, rng)
	if err != nil {
		return nil, err
	}
	for x.loop.Stats().Started == 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		time.Sleep(5 * time.Millisecond)
	}
	var out []bench.Result
	for _, q := range []struct {
		name, goal string
		o          explain.WhyOptions
		times      int
		pause      time.Duration
	}{
		{"answers of why", "", explain.WhyOptions{Siblings: 10}, 1, 0},
		{"answers of why", ">= 100/s", explain.WhyOptions{Siblings: 10}, questions, 0},
		{"answers with an estimate", "", explain.WhyOptions{Siblings: 10, Estimate: true}, 1, 12 * time.Second},
		{"answers with an estimate", ">= 5/s", explain.WhyOptions{Siblings: 10, Estimate: true}, questions, 0},
	} {
		half, told, err := b.askWhy(ctx, client, ids, q.o, q.times, rng)
		if err != nil {
			return nil, err
		}
		detail := fmt.Sprintf("%s with easy, %d waiting, %s each", policy, waiting, half.Round(100*time.Microsecond))
		if q.o.Estimate && q.times > 1 {
			detail += fmt.Sprintf(", %d%% with a start time", told)
		}
		if q.times == 1 {
			detail += ", the first"
		}
		out = append(out, bench.Result{Name: q.name, Detail: detail, PerSecond: 1 / half.Seconds(), Goal: q.goal})
		time.Sleep(q.pause)
	}
	return out, nil
}

// askWhy asks why about random jobs. It returns the median time of an answer, and the percentage of answers
// with a bound on the start.
func (b *benchCmd) askWhy(ctx context.Context, client *api.Client, ids []int64, o explain.WhyOptions, times int, rng *rand.Rand) (time.Duration, int, error) {
	var took []time.Duration
	told := 0
	for range times {
		began := time.Now()
		a, err := client.Jobs.Why(ctx, ids[rng.IntN(len(ids))], o)
		if err != nil {
			return 0, 0, err
		}
		if took = append(took, time.Since(began)); a.Start != nil && a.Start.By != nil {
			told++
		}
	}
	slices.Sort(took)
	return took[len(took)/2], 100 * told / times, nil
}

// questions is how often each question is asked; the reported time is the median.
const questions = 41

// manyWait submits n jobs of several sizes and time limits to a hundred pools.
func manyWait(ctx context.Context, client *api.Client, n int, rng *rand.Rand) (ids []int64, err error) {
	limits := []float64{60, 120, 240, 600, 1800}
	const size = 2000
	for len(ids) < n {
		specs := make([]api.Spec, min(size, n-len(ids)))
		for i := range specs {
			specs[i] = api.Spec{
				Argv: []string{"/bin/sleep", "3600"}, Pool: fmt.Sprint("pool", rng.IntN(100)),
				Request: map[string]int64{"cpu": 1 << rng.IntN(5)}, LimitSeconds: limits[rng.IntN(len(limits))],
			}
		}
		r, err := client.Jobs.Submit(ctx, api.SubmitRequest{Jobs: specs})
		if err != nil {
			return nil, err
		}
		for i := range r.Jobs {
			if err := r.Jobs[i].Error.Err(); err != nil {
				return nil, err
			}
			ids = append(ids, r.Jobs[i].ID)
		}
	}
	return ids, nil
}
