// Command bench measures fairlead on PostgreSQL beside other queues that keep jobs there: River, and the
// minimum of a queue, a loop of three statements. All use one server, which the command starts in a temporary
// directory, and take turns in random order, so that all see the same machine. It is a module of its own,
// because users of fairlead do not need River.
//
//	cd bench && go run . --help
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const usage = `Measure fairlead on PostgreSQL beside River and a bare loop of statements.

usage: go run . [flags]

  go run .                                  all, as in docs/explanation/speed.md (about half an hour)
  go run . --smoke                          does it work at all? (seconds)
  go run . --part stores --batches 100 --claimers 4
  go run . --part whole,latency --json
  go run . --bloat 5000000                  do the tables stay small?

flags:
`

// command holds the flags.
type command struct {
	plan                  plan
	parts                 string
	smoke, json, markdown bool
	bloat, every, kept    int
	set                   string
	statements            bool
	profile               string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (c *command) flags(errs io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(errs)
	f.Usage = func() { fmt.Fprint(errs, usage); f.PrintDefaults() }
	c.plan = whole
	numbers := func(into *[]int) func(string) error {
		return func(text string) (err error) {
			*into, err = list(text)
			return err
		}
	}
	f.StringVar(&c.parts, "part", "stores,whole,latency", "which parts: stores, whole, latency")
	f.BoolVar(&c.smoke, "smoke", false, "a few seconds of everything, to see that it works")
	f.BoolVar(&c.json, "json", false, "print JSON")
	f.BoolVar(&c.markdown, "markdown", false, "print tables as Markdown")
	f.Func("pools", "`numbers` of pools (default 10,1000,100000)", numbers(&c.plan.Pools))
	f.Func("batches", "`numbers` of jobs in a call (default 1,10,100,1000)", numbers(&c.plan.Batches))
	f.Func("claimers", "`numbers` of callers at once (default 1,4,16)", numbers(&c.plan.Claimers))
	f.Func("only", "only these `contestants`: fairlead, river, bare, bare-delete", func(text string) error {
		c.plan.Only = strings.Split(text, ",")
		return nil
	})
	f.IntVar(&c.plan.Rounds, "rounds", whole.Rounds, "how often each has its turn")
	f.DurationVar(&c.plan.Turn, "turn", whole.Turn, "how long a turn is")
	f.IntVar(&c.plan.Waiting, "waiting", whole.Waiting, "jobs that wait all the time")
	f.IntVar(&c.plan.Jobs, "jobs", whole.Jobs, "jobs through the whole path, each round")
	f.IntVar(&c.plan.Slots, "slots", whole.Slots, "handlers at once in the whole path")
	f.IntVar(&c.plan.Samples, "samples", whole.Samples, "jobs whose latency is measured")
	f.IntVar(&c.bloat, "bloat", 0, "only take this `number` of jobs through the store and watch its table sizes")
	f.IntVar(&c.every, "bloat-every", 500_000, "number of jobs between two prints of the sizes")
	f.IntVar(&c.kept, "bloat-kept", 100_000, "how many jobs that ended are kept")
	f.StringVar(&c.set, "set", "", "more `settings` of PostgreSQL, as in postgresql.conf, separated by ;")
	f.BoolVar(&c.statements, "statements", false, "print what each statement took at the database (with pg_stat_statements)")
	f.StringVar(&c.profile, "profile", "", "write a profile of this process's processor time to a `file`, for go tool pprof")
	return f
}

func list(text string) (out []int, err error) {
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a list of numbers above 0, like 1,10,100", text)
		}
		out = append(out, n)
	}
	return out, nil
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	var c command
	f := c.flags(errs)
	if err := f.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return nil
		}
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q is too much; see --help", f.Args())
	}
	if err := c.check(); err != nil {
		return err
	}
	if c.smoke {
		only := c.plan.Only
		c.plan = smoke
		c.plan.Only = only
	}
	more := settings
	if c.set != "" {
		more = append(more[:len(more):len(more)], strings.Split(c.set, ";")...)
	}
	if c.statements {
		more = append(more[:len(more):len(more)], "shared_preload_libraries = 'pg_stat_statements'")
	}
	// A program that does more than this one has a larger heap, and collects its garbage less often.
	debug.SetGCPercent(400)
	db, err := startDatabase(ctx, more...)
	if err != nil {
		return err
	}
	defer db.cluster.Stop()
	if c.bloat > 0 {
		b := &bloat{jobs: c.bloat, every: c.every, kept: c.kept, out: out}
		return b.run(ctx, db)
	}
	if c.profile != "" {
		stop, err := startProfile(c.profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	r := &report{At: time.Now(), Go: runtime.Version(), PostgreSQL: db.version, Cores: runtime.NumCPU(), LoadBefore: load(), Plan: c.plan}
	if err := c.measure(ctx, db, r, errs); err != nil {
		return err
	}
	r.LoadAfter = load()
	if c.statements {
		if err := db.statements(ctx, errs); err != nil {
			return err
		}
	}
	return c.print(r, out)
}

func startProfile(name string) (stop func(), err error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { pprof.StopCPUProfile(); file.Close() }, nil
}

var parts = []string{"stores", "whole", "latency"}

func (c *command) check() error {
	for _, part := range strings.Split(c.parts, ",") {
		if !slices.Contains(parts, part) {
			return fmt.Errorf("there is no part %q; there are %s", part, strings.Join(parts, ", "))
		}
	}
	for _, name := range c.plan.Only {
		if !slices.ContainsFunc(contestants, func(o contestant) bool { return o.name == name }) {
			return fmt.Errorf("there is no contestant %q", name)
		}
	}
	return nil
}

// measure runs the parts.
func (c *command) measure(ctx context.Context, db *database, r *report, errs io.Writer) (err error) {
	shared := *db // with connection pools of the same size for all
	shared.url += fmt.Sprintf("&pool_max_conns=%d", 16)
	progress := func(format string, args ...any) {
		if !c.smoke {
			fmt.Fprintf(errs, "%s  %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
		}
	}
	for _, part := range strings.Split(c.parts, ",") {
		switch part {
		case "stores":
			s := &stores{db: &shared, plan: c.plan, progress: progress}
			r.Stores, err = s.run(ctx)
		case "whole":
			w := &wholePath{db: &shared, plan: c.plan, progress: progress}
			r.Whole, err = w.run(ctx)
		case "latency":
			r.Latency, err = latencies(ctx, &shared, c.plan, progress)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *command) print(r *report, out io.Writer) error {
	if c.json {
		return r.json(out)
	}
	fmt.Fprintf(out, "%s, PostgreSQL %s, %s, %d cores; load %s before, %s after; %d rounds\n", r.At.Format(time.DateTime), r.PostgreSQL, r.Go, r.Cores, r.LoadBefore, r.LoadAfter, r.Plan.Rounds)
	for _, t := range r.tables() {
		show := t.plain
		if c.markdown {
			show = t.markdown
		}
		if err := show(out); err != nil {
			return err
		}
	}
	return nil
}
