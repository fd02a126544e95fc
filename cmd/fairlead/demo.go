package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/demo"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/socket"
	"github.com/fairlead/fairlead/internal/tempdir"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

type demoCmd struct {
	*app
	fast, json bool
}

func demoCommand(a *app) *cobra.Command {
	d := &demoCmd{app: a}
	c := &cobra.Command{
		Use:   "demo",
		Short: "See in under a minute how fair sharing works",
		Long: `One user floods the queue with 2,000 jobs, and two others submit 20 each: first under
FIFO, then under fair share. The jobs are real processes on a temporary server and agent,
which leave nothing behind. --fast runs the same work in virtual time, through the same
scheduler.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if d.fast {
				return d.runFast()
			}
			if d.json {
				return usagef("--json needs --fast")
			}
			return d.run(c.Context())
		},
	}
	c.Flags().BoolVar(&d.fast, "fast", false, "run in virtual time: finishes at once, with the same result each time")
	c.Flags().BoolVar(&d.json, "json", false, "with --fast: print JSON")
	return c
}

// phases lists the policies of the demonstration, in order.
var phases = []struct{ policy, title string }{
	{"fifo", "FIFO: in order of submission"},
	{"fair", "fair share: equal weights, the same jobs"},
}

func (d *demoCmd) intro(i int) {
	fmt.Fprintf(d.out, "[%d/2] %s\n", i+1, phases[i].title)
	if i == 0 {
		fmt.Fprintf(d.out, "      alice submits %s jobs; then bob submits %d, and carol %d\n", thousands(float64(demo.Asks[0].Jobs)), demo.Asks[1].Jobs, demo.Asks[2].Jobs)
	}
}

func (d *demoCmd) runFast() error {
	var all []demo.Summary
	var runs [][]demo.Run
	if !d.json {
		fmt.Fprintf(d.out, "fairlead %s demo in virtual time   %d slots, each job 100-300 ms\n\n", version, demo.Slots)
	}
	for i, p := range phases {
		s, err := demo.Simulate(p.policy)
		if err != nil {
			return err
		}
		all, runs = append(all, s.Summary), append(runs, s.Runs)
		if d.json {
			continue
		}
		d.intro(i)
		d.summary(s.Summary)
		if i == 1 && s.Versus != nil {
			fmt.Fprintf(d.out, "why?  after all jobs were submitted:\n%s\n", indent(s.Versus.Text(s.Units)))
		}
	}
	if d.json {
		return d.printJSON(map[string]any{"version": 1, "phases": all, "waits": demo.Compare(runs...)})
	}
	d.waits(runs)
	d.next()
	return nil
}

func (d *demoCmd) next() {
	fmt.Fprintln(d.out, "next:  fairlead serve --dev    then, in another terminal:    fairlead submit -- echo hello")
}

// barWidth is the width of a bar for everything, in characters.
const barWidth = 48

func bar(fraction float64) string {
	n := int(fraction*barWidth + 0.5)
	return strings.Repeat("█", min(max(n, 0), barWidth)) + strings.Repeat("·", barWidth-min(max(n, 0), barWidth))
}

// waits compares the waits of the same jobs under both policies.
func (d *demoCmd) waits(all [][]demo.Run) {
	fmt.Fprintln(d.out, "mean wait of the jobs that both runs have started:")
	for _, w := range demo.Compare(all...) {
		fmt.Fprintf(d.out, "      %-6s %3d jobs   %s %-6s  %s %s\n", w.User, w.Jobs, phases[0].policy, span(w.Means[0]),
			phases[1].policy, span(w.Means[1]))
	}
	fmt.Fprintln(d.out)
}

// summary prints the share that each user got while all had work.
func (d *demoCmd) summary(s demo.Summary) {
	for _, u := range s.Users {
		fmt.Fprintf(d.out, "      %-6s %s %5.1f%%\n", u.User, bar(u.Got), 100*u.Got)
	}
	fmt.Fprintf(d.out, "      Jain's index of the slots per user while all had work: %.2f\n\n", s.Jain)
}

func indent(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n      ") + "\n"
}

func (d *demoCmd) run(ctx context.Context) error {
	began := time.Now()
	fmt.Fprintf(d.out, "fairlead %s demo   store: temporary   %d slots, each job a process of 100-300 ms\n\n", version, demo.Slots)
	var all [][]demo.Run
	for i := range phases {
		d.intro(i)
		runs, err := d.phase(ctx, i)
		all = append(all, runs)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				fmt.Fprintln(d.errs, "\ninterrupted; nothing is left behind")
			}
			return err
		}
	}
	d.waits(all)
	fmt.Fprintf(d.out, "all in %s, through the same scheduler that a server runs\n", span(time.Since(began)))
	d.next()
	return nil
}

// phase runs the work under one policy, on its own server and agent.
func (d *demoCmd) phase(ctx context.Context, i int) ([]demo.Run, error) {
	dir, remove, err := tempdir.New("", "fairlead-demo-")
	if err != nil {
		return nil, err
	}
	defer remove()
	cfg, err := demo.Config(phases[i].policy)
	if err != nil {
		return nil, err
	}
	o := instanceOptions{
		config: cfg, database: filepath.Join(dir, "fairlead.db"), storeName: "temporary",
		socket: socket.Options{Path: filepath.Join(dir, "s"), Mode: 0o600, GID: -1}, lease: time.Minute, log: d.logger(12, "text"),
	}
	x, err := newInstance(ctx, o)
	if err != nil {
		return nil, err
	}
	defer x.stop()
	stopAgent, err := d.startAgent(ctx, o.socket.Path, dir, o)
	if err != nil {
		return nil, err
	}
	defer stopAgent()
	return d.show(ctx, x, i)
}

func (d *demoCmd) startAgent(ctx context.Context, socket, dir string, o instanceOptions) (stop func(), err error) {
	client, err := api.Dial(socket)
	if err != nil {
		return nil, err
	}
	work := agentOptions{name: "demo", cpus: demo.Slots, dir: filepath.Join(dir, "agent"), drain: time.Millisecond, any: true}
	ao, err := work.options(ctx, client, o.log)
	if err != nil {
		client.Close()
		return nil, err
	}
	joined, ended := make(chan struct{}, 1), make(chan error, 1)
	ao.Joined = func() { joined <- struct{}{} }
	work2, cancel := context.WithCancel(ctx)
	go func() { ended <- agent.Run(work2, ao) }()
	stop = func() { cancel(); <-ended; client.Close() }
	select {
	case <-joined:
		return stop, nil
	case err := <-ended:
		ended <- err
		stop()
		return nil, err
	}
}

// show submits the work, follows it, and prints its summary.
func (d *demoCmd) show(ctx context.Context, x *instance, i int) ([]demo.Run, error) {
	last := map[string]int64{}
	number := 0
	for k, a := range demo.Asks {
		jobs := make([]queue.Job, a.Jobs)
		for n := range jobs {
			jobs[n] = queue.Job{User: a.User, Name: fmt.Sprint(a.User, "-", n+1), Argv: []string{"sleep", fmt.Sprintf("%.3f", demo.Length(number).Seconds())}}
			number++
		}
		ids, err := x.loop.Client().Submit(ctx, jobs...)
		if err != nil {
			return nil, err
		}
		last[a.User] = ids[len(ids)-1]
		if k > 0 {
			continue
		}
		if err := d.follow(ctx, x, func() bool { return false }, demo.Head); err != nil {
			return nil, err
		}
	}
	if i == 1 {
		defer d.explain(ctx, x, last)()
	}
	small := func() bool {
		for _, a := range demo.Asks[1:] {
			if j, err := x.loop.Client().Job(ctx, last[a.User]); err != nil || !j.State.Ended() {
				return false
			}
		}
		return true
	}
	if err := d.follow(ctx, x, small, 5*time.Minute); err != nil {
		return nil, err
	}
	runs, err := collect(ctx, x)
	if err != nil {
		return nil, err
	}
	d.clear()
	d.summary(demo.Summarise(phases[i].policy, runs, time.Now()))
	return runs, nil
}

// explain asks why while the second user's jobs wait, and returns a function that prints the answer.
func (d *demoCmd) explain(ctx context.Context, x *instance, last map[string]int64) func() {
	job := last[demo.Asks[1].User]
	c, units, err := explain.New(x.loop).Versus(ctx, job, demo.Asks[0].User)
	if err != nil {
		return func() { fmt.Fprintln(d.errs, "why:", err) }
	}
	return func() {
		fmt.Fprintf(d.out, "why?  $ fairlead why %d --vs %s    (after all jobs were submitted)\n%s\n", job, demo.Asks[0].User, indent(c.Text(units)))
	}
}

// follow draws the running tasks until the function "done" returns true, but no longer than "most".
func (d *demoCmd) follow(ctx context.Context, x *instance, done func() bool, most time.Duration) error {
	for end := time.Now().Add(most); time.Now().Before(end) && !done(); {
		d.draw(x)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-x.failed:
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// draw draws a bar of each user's slots.
func (d *demoCmd) draw(x *instance) {
	if !d.terminal() {
		return
	}
	d.clear()
	pools := map[string]views.PoolView{}
	for _, p := range views.Pools(context.Background(), x.loop) {
		pools[p.Path] = p
	}
	for _, a := range demo.Asks {
		p := pools[a.User]
		fmt.Fprintf(d.out, "      %-6s %s %2.0f run  %4d wait\n", a.User, bar(p.Running/demo.Slots), p.Running, p.Waiting)
	}
	fmt.Fprintf(plain.Raw(d.out), "\x1b[%dA", len(demo.Asks))
}

// clear removes the drawing.
func (d *demoCmd) clear() {
	if d.terminal() {
		fmt.Fprint(plain.Raw(d.out), "\r\x1b[J")
	}
}

func collect(ctx context.Context, x *instance) ([]demo.Run, error) {
	jobs, err := x.loop.Client().Jobs(ctx, queue.Query{})
	if err != nil {
		return nil, err
	}
	runs := make([]demo.Run, len(jobs))
	for i, j := range jobs {
		runs[i] = demo.Run{Job: j.ID, User: j.User, Submitted: j.Submitted, Start: j.Started, End: j.Ended}
	}
	return runs, nil
}
