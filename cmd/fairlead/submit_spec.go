package main

import (
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

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/internal/script"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

// submission is a submit command with its flags.
type submission struct {
	*app
	spread
	name, pool, kind, priority, requestor, key string
	qos                                        string
	cpus, retries, maxRunning, nice            int
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

// spec builds the job from the arguments, the script and the flags.
func (s *submission) spec(c *cobra.Command, args []string) (*api.Spec, error) {
	spec := &api.Spec{Env: map[string]string{}}
	switch {
	case s.wrap != "" && len(args) > 0:
		return nil, usagef("give either --wrap or a command, not both")
	case s.wrap != "":
		spec.Argv = []string{"/bin/sh", "-c", s.wrap}
	case len(args) == 0:
		return nil, usagef("nothing to run: name a script, or a command after --")
	case c.ArgsLenAtDash() == 0:
		spec.Argv = args
	default:
		if err := s.readScript(c, spec, args); err != nil {
			return nil, err
		}
	}
	if !spec.Script && len(s.sbatch) > 0 {
		d, err := script.Options(s.sbatchWords(c)...)
		if err != nil {
			return nil, usageError{err}
		}
		if err := s.follow(c, spec, "", d); err != nil {
			return nil, err
		}
	}
	if c.Flags().Changed("cpus") && s.cpus == 0 {
		return nil, usagef("--cpus 0: a task needs at least one processor")
	}
	for flag, n := range map[string]int{"nodes": s.nodes, "tasks": s.tasks} {
		if n < 1 && c.Flags().Changed(flag) {
			return nil, usagef("--%s %d: must be at least 1", flag, n)
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

// readScript reads a script and its directives; flags on the command line override them.
func (s *submission) readScript(c *cobra.Command, spec *api.Spec, args []string) error {
	text, err := s.scriptText(args[0])
	if err != nil {
		return err
	}
	d, err := script.Parse(text, s.sbatchWords(c)...)
	if err != nil {
		return usagef("%s: %w", args[0], err)
	}
	spec.Argv, spec.Payload, spec.Script = args, text, true
	return s.follow(c, spec, args[0], d)
}

// follow sets the flags that directives ask for. Flags on the command line override them. name is that of the script.
func (s *submission) follow(c *cobra.Command, spec *api.Spec, name string, d *script.Directives) error {
	place := func(line int) string {
		if line == 0 {
			return ""
		}
		return fmt.Sprintf("%s:%d: ", name, line)
	}
	changed := map[string]bool{}
	gang := c.Flags().Changed("nodes") || c.Flags().Changed("tasks")
	for _, f := range d.Flags {
		if c.Flags().Changed(f.Name) && !changed[f.Name] || gang && (f.Name == "nodes" || f.Name == "tasks") {
			continue // the command line overrides the script
		}
		if err := c.Flags().Set(f.Name, f.Value); err != nil {
			return usagef("%s--%s %s: %w", place(f.Line), f.Name, f.Value, err)
		}
		changed[f.Name] = true
	}
	said := func(what string, all []script.Ignored) {
		for _, i := range all {
			if i.Line > 0 {
				fmt.Fprintf(s.errs, "%s: ", name)
			}
			fmt.Fprintf(s.errs, "%s: %s\n", what, i)
		}
	}
	said("note", d.Notes)
	said("ignored", d.Ignored)
	if d.Compat != "" {
		spec.Env[environ.Compat] = d.Compat
	}
	if d.Processes > 0 {
		spec.Env[environ.Processes] = strconv.Itoa(d.Processes)
	}
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
		return nil, usagef("%w%s", err, hint)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, script.MaxSize+1))
}

// fill sets the fields of the job from the flags.
func (s *submission) fill(spec *api.Spec) (err error) {
	spec.Name, spec.Pool, spec.Kind, spec.Priority = s.name, s.pool, s.kind, s.priority
	spec.Array, spec.MaxRunning, spec.Held, spec.Key = s.array, s.maxRunning, s.hold, s.key
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
	for _, set := range []func(*api.Spec) error{s.fillGang, s.fillRequest, s.fillLicenses, s.fillTimes, s.fillAfter, s.fillEnv} {
		if err := set(spec); err != nil {
			return err
		}
	}
	return nil
}

// fillGang sets how many tasks start at the same moment.
func (s *submission) fillGang(spec *api.Spec) error {
	switch {
	case s.nodes > 0 && s.tasks > 0:
		return usagef("give either --nodes (one task on each node) or --tasks (on any nodes), not both; for several processes on each of %d nodes: --nodes %d --cpus %d", s.nodes, s.nodes, (s.tasks+s.nodes-1)/s.nodes)
	case s.nodes+s.tasks > 1 && s.array != "":
		return usagef("give either --array (tasks start one by one) or --nodes or --tasks (all start at once), not both; submit one job for each")
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
			return usagef("--mem-per-cpu: %s for each of %d processors is too large", size, per)
		}
		spec.Request["mem"] = n * per
	}
	return nil
}

// fillLicenses parses licenses such as matlab:2, in the notation of sbatch; a name alone means one.
func (s *submission) fillLicenses(spec *api.Spec) error {
	spec.Rates = s.rates
	for _, text := range s.licenses {
		name, count, found := strings.Cut(text, ":")
		if !found {
			count = "1"
		}
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 1 || name == "" {
			return usagef("--licenses: %q is not a license with a number, such as matlab:1", text)
		}
		if spec.Licenses == nil {
			spec.Licenses = map[string]int64{}
		}
		if _, twice := spec.Licenses[name]; twice {
			return usagef("--licenses: %s is given twice; give its number once, e.g. %s:2", name, name)
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
			d = queue.NoLimit
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

// fillEnv sets the variables of the job.
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
				// A job that submits another must not pass on its own trail.
				if name, value, ok := strings.Cut(e, "="); ok && name != "" && name != environ.Trail {
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

func args0(spec *api.Spec, wrap string) string {
	if wrap != "" {
		return "wrap"
	}
	return spec.Argv[0]
}

// pictured adds a mark at the place of an error in a constraint.
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
