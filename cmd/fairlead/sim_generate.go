package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/internal/sim/workload"
)

func simGenerateCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "generate",
		Short: "Generate a workload for the simulator from a seed",
		RunE: func(*cobra.Command, []string) error {
			return usagef("a subcommand is missing: fairlead sim generate lublin, jobs as on real parallel machines, or fairlead sim generate saturated, users who always have work")
		},
		Args: cobra.NoArgs,
	}
	c.AddCommand(simLublinCommand(a), simSaturatedCommand(a))
	return c
}

func simLublinCommand(a *app) *cobra.Command {
	g := &generateCmd{app: a, name: "lublin"}
	l := workload.Lublin{}
	var types, estimates string
	c := &cobra.Command{
		Use:   "lublin",
		Short: "Generate jobs like those of real parallel machines",
		Long: `Generate jobs like those of real parallel machines, by the model of Lublin and Feitelson
(2003) with their published parameters. Many sizes are 1 or a power of two. Run times range from
seconds to two days and grow with the size. Arrivals follow the time of day. The same flags give
the same file, and its first lines list the flags.

--load is the submitted work as a multiple of what the processors can do in the time between the
first and the last submission: the times between submissions are stretched to fit. --estimates
selects the time limits: with "users" they are round values as people choose them, with "exact" they
are the run times, and with a number they are the run times multiplied by it. The number of jobs of user k is in
proportion to 1/k^s, where s is the value of --zipf.`,
		Example: `  fairlead sim generate lublin --procs 256 --jobs 10000 --load 0.8 -o work.swf.gz
  fairlead sim generate lublin --types batch --estimates exact --seed 7 > work.swf`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if l.Estimates, err = workload.ParseEstimates(estimates); err != nil {
				return usageError{err}
			}
			l.Types = workload.Types(types)
			comments := []string{"Queue: 0 interactive", "Queue: 1 batch"}
			if l.Types == workload.Whole {
				comments = nil
			}
			return g.run(c, l.Procs, l.Jobs, comments, func(seed uint64, tick workload.Tick) ([]workload.Job, error) {
				l.Seed, l.Tick = seed, tick
				return l.Make()
			})
		},
	}
	f := c.Flags()
	f.IntVar(&l.Procs, "procs", 128, "processors of the machine")
	f.IntVar(&l.Jobs, "jobs", 10_000, "number of jobs")
	f.StringVar(&types, "types", "both",
		"both, batch, interactive, or whole (one type, with the parameters of all jobs together)")
	f.Float64Var(&l.Load, "load", 0, "offered load as a fraction of the machine, such as 0.8 (default: that of the model)")
	f.IntVar(&l.Users, "users", 50, "number of users")
	f.Float64Var(&l.Zipf, "zipf", 1, "how unequal users are: 0 makes all equal")
	f.StringVar(&estimates, "estimates", "users", "time limits: users, exact, or a number that multiplies the run times")
	g.flags(f)
	return c
}

func simSaturatedCommand(a *app) *cobra.Command {
	g := &generateCmd{app: a, name: "saturated"}
	s := workload.Saturated{}
	var lengths, config string
	var mean, span time.Duration
	c := &cobra.Command{
		Use:   "saturated",
		Short: "Generate users who always have work, to measure fairness",
		Long: `Generate users who always have work, to measure fairness: all jobs are submitted at the
beginning, and each user submits --backlog times the work that the user's share of the machine
can do within --span. --weights and --sizes repeat over the users: with 1,2,4 the fourth user has
weight 1 again. --config writes a configuration with a pool of that weight for each user, for
fairlead sim run --config. The pool of user 12 is called u12.

--lengths selects the run times: exponential, constant, or 1:10, where every other user has
jobs ten times as long as --mean.`,
		Example: `  fairlead sim generate saturated --procs 120 --users 60 --weights 1,2,4 -o work.swf --config work.yaml
  fairlead sim generate saturated --lengths 1:10 --span 6h > work.swf`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s.Lengths, s.Mean, s.Span = workload.Lengths(lengths), mean.Seconds(), int64(span.Seconds())
			comments := []string{fmt.Sprintf("Note: weights of the users, in turn: %s", commaSeparated(s.Weights))}
			if err := g.run(c, s.Procs, 0, comments, func(seed uint64, tick workload.Tick) ([]workload.Job, error) {
				s.Seed, s.Tick = seed, tick
				return s.Make()
			}); err != nil || config == "" {
				return err
			}
			return writeWhole(config, func(w io.Writer) error { return writeWeights(w, &s) })
		},
	}
	f := c.Flags()
	f.IntVar(&s.Procs, "procs", 120, "processors of the machine")
	f.IntVar(&s.Users, "users", 60, "number of users")
	f.Float64SliceVar(&s.Weights, "weights", []float64{1, 2, 4}, "weights of the users, in turn")
	f.IntSliceVar(&s.Sizes, "sizes", []int{1}, "processors of the users' jobs, in turn")
	f.StringVar(&lengths, "lengths", "exponential", "exponential, constant, or 1:10")
	f.DurationVar(&mean, "mean", time.Minute, "mean length of a job")
	f.DurationVar(&span, "span", time.Hour, "time for which all users have work")
	f.Float64Var(&s.Backlog, "backlog", 2, "work of a user as a multiple of its share")
	f.StringVar(&config, "config", "", "write a configuration with the weights of the users to this file")
	g.flags(f)
	return c
}

// writeWeights writes a configuration with a pool for each user.
func writeWeights(w io.Writer, s *workload.Saturated) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "pools:")
	for u := 1; u <= s.Users; u++ {
		fmt.Fprintf(out, "  u%d: {weight: %s}\n", u, strconv.FormatFloat(s.Weight(u), 'f', -1, 64))
	}
	return out.Flush()
}

// generateCmd holds the flags that both kinds of workload share.
type generateCmd struct {
	*app
	name string
	seed uint64
	out  string
	json bool
}

func (g *generateCmd) flags(f *pflag.FlagSet) {
	f.Uint64Var(&g.seed, "seed", 1, "seed of the random numbers")
	f.StringVarP(&g.out, "out", "o", "", "write to this file, compressed if its name ends in .gz (default: standard output)")
	f.BoolVar(&g.json, "json", false, "print a summary as JSON; needs --out")
}

// making generates the jobs from a seed.
type making func(seed uint64, tick workload.Tick) ([]workload.Job, error)

func (g *generateCmd) run(c *cobra.Command, procs, want int, comments []string, make making) error {
	if g.json && g.out == "" {
		return usagef("--json needs --out FILE")
	}
	if g.out == "" && g.terminal() {
		return usagef("a terminal cannot show a workload: give a file with --out FILE, or redirect the output")
	}
	jobs, err := make(g.seed, g.tick(c.Context(), want))
	if err != nil {
		if c.Context().Err() != nil {
			return err
		}
		return usageError{err}
	}
	m := summarize(jobs, procs)
	m.File, m.Command = g.out, g.command(c)
	head := append(m.header(), comments...)
	if err := g.write(head, records(jobs)); err != nil {
		return err
	}
	if g.json {
		return g.printJSON(m)
	}
	if g.out != "" {
		fmt.Fprintln(g.app.out, m)
	}
	return nil
}

// tick shows the progress of the generation, and ends the generation when the user interrupts.
func (g *generateCmd) tick(ctx context.Context, want int) workload.Tick {
	bar := progressbar.NewOptions(max(want, -1), progressbar.OptionSetWriter(plain.Raw(g.errs)), progressbar.OptionSetVisibility(g.terminal() && want > 100_000),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription("jobs"))
	return func(n int) error {
		bar.Set(n)
		return ctx.Err()
	}
}

// command returns the command that makes the same file again. It has all relevant flags, because defaults may
// change.
func (g *generateCmd) command(c *cobra.Command) string {
	text := c.CommandPath()
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		switch value := f.Value.String(); f.Name {
		case "out", "json", "config", "help":
		default:
			if list, ok := f.Value.(pflag.SliceValue); ok {
				value = strings.Join(list.GetSlice(), ",")
				if weights, err := c.Flags().GetFloat64Slice(f.Name); err == nil {
					value = commaSeparated(weights)
				}
			}
			text += " --" + f.Name + " " + value
		}
	})
	return text
}

// write writes the file, as a whole or not at all.
func (g *generateCmd) write(comments []string, lines []swf.Record) error {
	if g.out == "" {
		return swf.Write(g.app.out, comments, lines)
	}
	return writePacked(g.out, func(w io.Writer) error { return swf.Write(w, comments, lines) })
}

// writePacked writes a file as a whole, compressed if its name ends in .gz.
func writePacked(name string, write func(io.Writer) error) error {
	return writeWhole(name, func(w io.Writer) error {
		if !strings.HasSuffix(name, ".gz") {
			return write(w)
		}
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	})
}

// writeWhole writes a temporary file beside the named one and renames it after success, so that a reader
// never sees a partial file.
func writeWhole(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".fairlead-")
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return usagef("write %s: %w", name, pathErr.Err) // without the name of the temporary file
	} else if err != nil {
		return usageError{err}
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}
