package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bench"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/internal/table"
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

func (a *app) benchCommand() *cobra.Command {
	b := &benchCmd{app: a}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine",
		Long: `Measure this machine: decisions per second on one core, under every policy
and with tasks that are fitted to many nodes, durable submissions, jobs from
submission to end beside a bare loop on the same engine, answers of why among many jobs
that wait, and processes that do nothing through a server and an agent.`,
		Example: "  fairlead bench --quick\n  fairlead bench --only decisions --full --json\n  fairlead bench --only nodes",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return b.run(c.Context()) },
	}
	f := c.Flags()
	f.StringSliceVar(&b.only, "only", nil, "only these: decisions, policies, nodes, replay, submissions, cycles, why, processes")
	f.BoolVar(&b.quick, "quick", false, "smaller and faster, less steady")
	f.BoolVar(&b.full, "full", false, "with ten million waiting jobs (4 GiB of memory)")
	f.BoolVar(&b.json, "json", false, "print JSON")
	f.StringVar(&b.dir, "dir", "", "directory for the databases: the disk that is measured (default: a temporary one)")
	return c
}

// part is one measurement.
type part struct {
	group, name string
	run         func(ctx context.Context, dir string) ([]bench.Result, error)
}

func (b *benchCmd) run(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.dir, "fairlead-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
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
		policy    string
		placement sched.Placement
	}{{"fifo", sched.FCFS}, {"fifo", sched.EASY}, {"fifo", sched.Conservative}, {"fair", sched.EASY}, {"fairtree", sched.EASY}} {
		all = append(all, part{"replay", fmt.Sprintf("replay: %s with %v", x.policy, x.placement), func(context.Context, string) ([]bench.Result, error) {
			r, err := bench.Replay(x.policy, x.placement, scale(50_000))
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

// processes measures processes that do nothing, from submission to end through a
// server and an agent with SQLite.
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
		if _, err := client.Submit(ctx, api.SubmitRequest{Jobs: specs}); err != nil {
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
		return nil, nil, nil, err
	}
	work := agentOptions{name: "bench", cpus: 16, dir: filepath.Join(dir, "agent"), drain: time.Second}
	ao, err := work.options(ctx, client, o.log)
	if err != nil {
		return nil, nil, nil, err
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
