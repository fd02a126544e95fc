package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/script"
	"github.com/fairlead/fairlead/internal/units"
)

// submission is a submit command with its flags.
type submission struct {
	*app
	name, pool, kind, priority, requestor, key string
	qos                                        string
	cpus, retries, maxRunning, nice            int
	nodes, tasks                               int
	gpus                                       []string
	constraint, reservation                    string
	unsatisfiable                              bool
	mem, memPerCPU, limit, backoff, begin      string
	array, output, errors_, dir, export        string
	request                                    map[string]int
	licenses, rates                            []string
	after                                      []string
	hold, wait, parsable, dryRun, json         bool
	wrap, as                                   string
}

func (a *app) submitCommand() *cobra.Command { return (&submission{app: a}).command() }

func (s *submission) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "submit [flags] (SCRIPT [ARG...] | -- COMMAND [ARG...] | --wrap STRING)",
		Short: "Submit a job",
		Long: `Submit a job: a command, a script, or a line for the shell.

A script's #FL lines hold flags of this command; #SBATCH and #PBS lines are read as
well, and the ones that have no effect are named. Flags on the command line go before
those in the script.

The job gets PATH and the locale of your environment; more with --export.`,
		Example: `  fairlead submit -- ./simulate run.cfg
  fairlead submit -c 4 --mem 8G -t 2h -J neutrons job.sh
  fairlead submit --array 0-99%10 --wrap './step $FAIRLEAD_NUMBER'
  fairlead submit --after 1042 -- ./collect
  fairlead submit -N 4 -c 16 -t 2h mpi.sh
  fairlead submit -G a100:2 -C 'rack!=b' -- ./train
  fairlead submit -L matlab:1 --rate linkedin -- ./crawl
  id=$(fairlead submit --parsable -- ./prepare)`,
		RunE: s.run,
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&s.name, "name", "J", "", "name of the job")
	f.IntVarP(&s.cpus, "cpus", "c", 0, "processors per task (default 1)")
	f.StringVar(&s.mem, "mem", "", "memory per task, e.g. 4G")
	f.StringVar(&s.memPerCPU, "mem-per-cpu", "", "memory per processor")
	f.StringSliceVarP(&s.gpus, "gpus", "G", nil, "GPUs per task: a number, or with a type, e.g. a100:2")
	f.IntVarP(&s.nodes, "nodes", "N", 0, "run on so many nodes at once: a task on each, with what is asked for per task")
	f.IntVarP(&s.tasks, "tasks", "n", 0, "run so many tasks at once, wherever there is room for each")
	f.StringVarP(&s.constraint, "constraint", "C", "", "what the labels of the node have to be, e.g. 'arch=amd64 & rack!=b'")
	f.StringVar(&s.reservation, "reservation", "", "run in this reservation of nodes; see fairlead reserve")
	f.StringToIntVar(&s.request, "request", nil, "further resources per task, e.g. tape=1")
	f.StringSliceVarP(&s.licenses, "licenses", "L", nil, "licences that each task holds while it runs, e.g. matlab:1,ansys:2")
	f.StringSliceVar(&s.rates, "rate", nil, "rates under which each start of a task counts, e.g. linkedin")
	f.StringVarP(&s.limit, "time", "t", "", "time limit: 90 (minutes), 1:30:00, 2-12:00:00, 60h, unlimited (default: that of the pool)")
	f.StringVarP(&s.pool, "pool", "A", os.Getenv("FAIRLEAD_POOL"), "pool to charge (default: by the placement rules)")
	f.StringVarP(&s.kind, "kind", "k", "", "type of work")
	f.StringVar(&s.priority, "priority", "", "priority within the pool: very_high, high, normal, low, very_low")
	f.StringVar(&s.qos, "qos", "", "quality of service, under the policy multifactor (default: as the priority is called)")
	f.IntVar(&s.nice, "nice", 0, "what to give up of the priority, under the policy multifactor; below 0 for administrators only")
	f.StringVarP(&s.array, "array", "a", "", "task numbers, e.g. 0-99%10 (ten at once)")
	f.IntVar(&s.maxRunning, "max-running", 0, "tasks of the job at once")
	f.StringSliceVarP(&s.after, "after", "d", nil, "jobs to wait for: 12, ok:12, failed:12, any:12")
	f.StringVarP(&s.begin, "begin", "b", "", "not before: 16:00, +2h, 2026-12-24T08:00, tomorrow")
	f.BoolVarP(&s.hold, "hold", "H", false, "hold the job until it is released")
	f.IntVar(&s.retries, "retries", 0, "further tries of a task that fails")
	f.StringVar(&s.backoff, "backoff", "", "pause before the second try; doubles each time (default 5s)")
	f.StringVarP(&s.output, "output", "o", "", "file for the output; %j job, %a number, %x name, %N node (default: fairlead logs)")
	f.StringVarP(&s.errors_, "error", "e", "", "file for the error output (default: with the output)")
	f.StringVarP(&s.dir, "chdir", "D", "", "working directory (default: this one)")
	f.StringVar(&s.export, "export", "", "variables to pass: ALL, NONE, or NAME,NAME=VALUE")
	f.StringVar(&s.requestor, "requestor", "", "text that placement rules may match (default: your name)")
	f.StringVar(&s.key, "key", "", "submit only once under this key, however often you try")
	f.StringVar(&s.wrap, "wrap", "", "a line for /bin/sh instead of a script")
	f.BoolVar(&s.wait, "wait", false, "wait for the end; exit with the job's status")
	f.BoolVar(&s.parsable, "parsable", false, "print the id only")
	f.BoolVar(&s.dryRun, "dry-run", false, "say what would happen, and submit nothing")
	f.BoolVar(&s.dryRun, "test-only", false, "the same")
	f.Lookup("test-only").Hidden = true
	f.BoolVar(&s.unsatisfiable, "allow-unsatisfiable", false, "submit even what no known node could ever run")
	f.BoolVar(&s.json, "json", false, "print JSON")
	f.StringVar(&s.as, "as", "", "submit for another user (administrators only)")
	f.SetInterspersed(false)
	return c
}

func (s *submission) run(c *cobra.Command, args []string) error {
	spec, err := s.spec(c, args)
	if err != nil {
		return err
	}
	return s.with(func(client *api.Client) error {
		client.As = s.as
		if spec.Key == "" && !s.dryRun {
			spec.Key = "cli-" + rand.Text() // a lost answer does not make two jobs
		}
		r, err := s.send(c.Context(), client, spec)
		if err != nil {
			return err
		}
		return s.tell(c.Context(), client, r)
	})
}

// spec makes the job from the arguments, the script and the flags.
func (s *submission) spec(c *cobra.Command, args []string) (*api.Spec, error) {
	spec := &api.Spec{Env: map[string]string{}}
	switch {
	case s.wrap != "" && len(args) > 0:
		return nil, usagef("either --wrap or a command, not both")
	case s.wrap != "":
		spec.Argv = []string{"/bin/sh", "-c", s.wrap}
	case len(args) == 0:
		return nil, usagef("what is to be run? Name a script, or a command after --")
	case c.ArgsLenAtDash() == 0:
		spec.Argv = args
	default:
		if err := s.readScript(c, spec, args); err != nil {
			return nil, err
		}
	}
	if c.Flags().Changed("cpus") && s.cpus == 0 {
		return nil, usagef("--cpus 0: a task has at least one processor")
	}
	for flag, n := range map[string]int{"nodes": s.nodes, "tasks": s.tasks} {
		if n < 1 && c.Flags().Changed(flag) {
			return nil, usagef("--%s %d: it has to be 1 at least", flag, n)
		}
	}
	if s.name == "" {
		s.name = filepath.Base(args0(spec, s.wrap))
	}
	if err := s.fill(spec); err != nil {
		return nil, err
	}
	return spec, nil
}

func args0(spec *api.Spec, wrap string) string {
	if wrap != "" {
		return "wrap"
	}
	return spec.Argv[0]
}

// readScript takes over a script and its directives; flags that were given on the
// command line stay.
func (s *submission) readScript(c *cobra.Command, spec *api.Spec, args []string) error {
	text, err := s.scriptText(args[0])
	if err != nil {
		return err
	}
	d, err := script.Parse(text)
	if err != nil {
		return usagef("%s: %w", args[0], err)
	}
	changed := map[string]bool{}
	gang := c.Flags().Changed("nodes") || c.Flags().Changed("tasks")
	for _, f := range d.Flags {
		if c.Flags().Changed(f.Name) && !changed[f.Name] || gang && (f.Name == "nodes" || f.Name == "tasks") {
			continue // the command line goes before the script
		}
		if err := c.Flags().Set(f.Name, f.Value); err != nil {
			return usagef("%s:%d: --%s %s: %w", args[0], f.Line, f.Name, f.Value, err)
		}
		changed[f.Name] = true
	}
	for _, n := range d.Notes {
		fmt.Fprintf(s.errs, "%s: note: %s\n", args[0], n)
	}
	for _, i := range d.Ignored {
		fmt.Fprintf(s.errs, "%s: ignored: %s\n", args[0], i)
	}
	if d.Compat != "" {
		spec.Env[agent.CompatVariable] = d.Compat
	}
	if d.Processes > 0 {
		spec.Env[agent.ProcessesVariable] = strconv.Itoa(d.Processes)
	}
	spec.Argv, spec.Payload, spec.Script = args, text, true
	return nil
}

func (s *submission) scriptText(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(s.in, script.MaxSize+1))
	}
	f, err := os.Open(name)
	if err != nil {
		hint := ""
		if !strings.Contains(name, "/") {
			hint = fmt.Sprintf("; to run a program: fairlead submit -- %s", name)
		}
		return nil, usagef("script %w%s", err, hint)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, script.MaxSize+1))
}

// fill takes over the flags.
func (s *submission) fill(spec *api.Spec) (err error) {
	spec.Name, spec.Pool, spec.Kind, spec.Priority = s.name, s.pool, s.kind, s.priority
	spec.Array, spec.Most, spec.Held, spec.Key = s.array, s.maxRunning, s.hold, s.key
	spec.Requestor, spec.Retries = s.requestor, s.retries
	spec.QOS, spec.Nice = s.qos, s.nice
	spec.Output, spec.Error = s.output, s.errors_
	if spec.Dir = s.dir; spec.Dir == "" {
		spec.Dir, err = os.Getwd()
	} else {
		spec.Dir, err = filepath.Abs(s.dir)
	}
	if err != nil {
		return err
	}
	for _, set := range []func(*api.Spec) error{s.fillGang, s.fillRequest, s.fillTolls, s.fillTimes, s.fillAfter, s.fillEnv} {
		if err := set(spec); err != nil {
			return err
		}
	}
	return nil
}

// fillGang takes over how many tasks start all at once.
func (s *submission) fillGang(spec *api.Spec) error {
	switch {
	case s.nodes > 0 && s.tasks > 0:
		return usagef("either --nodes, a task on each, or --tasks, wherever there is room; not both. Several processes on each of %d nodes: --nodes %d --cpus %d", s.nodes, s.nodes, (s.tasks+s.nodes-1)/s.nodes)
	case s.nodes+s.tasks > 1 && s.array != "":
		return usagef("either --array, whose tasks start one by one, or --nodes or --tasks, which start all at once; not both. Submit one job for each of them")
	}
	spec.Gang, spec.Spread = max(s.nodes, s.tasks), s.nodes > 0
	return nil
}

func (s *submission) fillRequest(spec *api.Spec) error {
	spec.Request = map[string]int64{}
	for name, n := range s.request {
		spec.Request[name] = int64(n)
	}
	if s.cpus < 0 {
		return usagef("the number of processors cannot be below 0")
	}
	if s.cpus > 0 {
		spec.Request["cpu"] = int64(s.cpus)
	}
	if err := addGPUs(spec.Request, s.gpus); err != nil {
		return err
	}
	if _, err := cluster.ParseConstraint(s.constraint); err != nil {
		return usagef("--constraint: %w", pictured(err))
	}
	spec.Constraint, spec.Reservation = s.constraint, s.reservation
	per, size := int64(1), s.mem
	if s.memPerCPU != "" && s.mem == "" {
		per, size = int64(max(1, s.cpus)), s.memPerCPU
	}
	if size != "" {
		n, err := units.ParseSize(size)
		if err != nil {
			return usagef("--mem: %w", err)
		}
		if n > math.MaxInt64/per {
			return usagef("--mem-per-cpu: %s for each of %d processors is more than can be counted", size, per)
		}
		spec.Request["mem"] = n * per
	}
	return nil
}

// pictured shows the place of an error in a constraint.
func pictured(err error) error {
	var e *cluster.ConstraintError
	if !errors.As(err, &e) || len(e.Text) > 100 {
		return err
	}
	before := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, e.Text[:e.At])
	return fmt.Errorf("%s\n  %s\n  %s^", e.Message, e.Text, before)
}

// fillTolls reads licences such as matlab:2, as sbatch has them; a name alone is one.
func (s *submission) fillTolls(spec *api.Spec) error {
	spec.Rates = s.rates
	for _, text := range s.licenses {
		name, count, found := strings.Cut(text, ":")
		if !found {
			count = "1"
		}
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 1 || name == "" {
			return usagef("--licenses: %q is not a licence with a number, such as matlab:1", text)
		}
		if spec.Licenses == nil {
			spec.Licenses = map[string]int64{}
		}
		if _, twice := spec.Licenses[name]; twice {
			return usagef("--licenses: %s is named twice; give the number once, e.g. %s:2", name, name)
		}
		spec.Licenses[name] = n
	}
	return nil
}

func (s *submission) fillTimes(spec *api.Spec) error {
	if s.limit != "" {
		d, err := units.ParseTimeLimit(s.limit)
		if err != nil {
			return usagef("--time: %w", err)
		}
		if d == 0 {
			d = fairlead.NoLimit
		}
		spec.LimitSeconds = d.Seconds()
	}
	if s.backoff != "" {
		d, err := units.ParseDuration(s.backoff)
		if err != nil {
			return usagef("--backoff: %w", err)
		}
		spec.BackoffSeconds = d.Seconds()
	}
	if s.begin != "" {
		t, err := units.ParseInstant(s.begin, time.Now())
		if err != nil {
			return usagef("--begin: %w", err)
		}
		spec.Begin = &t
	}
	return nil
}

func (s *submission) fillAfter(spec *api.Spec) error {
	for _, text := range s.after {
		on, id, found := strings.Cut(text, ":")
		if !found {
			on, id = "ok", text
		}
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 1 || on != "ok" && on != "any" && on != "failed" {
			return usagef("--after: %q is not a dependency: expected 12, ok:12, failed:12 or any:12", text)
		}
		spec.After = append(spec.After, api.After{Job: n, On: on})
	}
	return nil
}

// fillEnv passes the variables that were asked for.
func (s *submission) fillEnv(spec *api.Spec) error {
	pass := func(names ...string) {
		for _, name := range names {
			if v, ok := os.LookupEnv(name); ok {
				spec.Env[name] = v
			}
		}
	}
	if s.export == "" {
		pass("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
		return nil
	}
	for item := range strings.SplitSeq(s.export, ",") {
		name, value, set := strings.Cut(item, "=")
		switch {
		case item == "ALL":
			for _, e := range os.Environ() {
				// What a job submits has not come the way of the job.
				if name, value, ok := strings.Cut(e, "="); ok && name != "" && name != bridge.TrailVariable {
					spec.Env[name] = value
				}
			}
		case item == "NONE", item == "":
		case set:
			spec.Env[name] = value
		default:
			pass(name)
		}
	}
	return nil
}
