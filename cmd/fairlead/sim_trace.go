package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/sim"
	simhistory "github.com/fairlead/fairlead/internal/sim/history"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// lastDay is how much of a server's past is replayed by default.
const lastDay = "24h"

// simFlags holds the flags of all simulations of a trace.
type simFlags struct {
	*app
	procs, nodes      int
	from, to          string
	load              float64
	overrun, oversize string
	seed              uint64
	json              bool
	history           bool
	last              string
}

func (s *simFlags) flags(f *pflag.FlagSet) {
	f.IntVar(&s.procs, "procs", 0, "processors of the machine (default: those of the trace)")
	f.IntVar(&s.nodes, "nodes", 1,
		"number of equal nodes for the processors; a job that is larger than a node starts on several of them at the same "+
			"time")
	f.StringVar(&s.from, "from", "",
		"omit jobs that were submitted before this time: a date, a number of seconds into the trace, or a duration "+
			"after the first submission, such as 30d")
	f.StringVar(&s.to, "to", "", "omit jobs that were submitted at this time or later")
	f.Float64Var(&s.load, "scale-load", 1, "divide the time between submissions by this number")
	f.StringVar(&s.overrun, "overrun", "kill", "jobs that ran longer than their estimate: kill them, or extend the estimate")
	f.StringVar(&s.oversize, "oversize", "refuse", "jobs that ask for more processors than there are: refuse them, or clip to the machine")
	f.Uint64Var(&s.seed, "seed", 1, "seed for policies that draw lots")
	f.BoolVar(&s.json, "json", false, "print JSON")
	f.BoolVar(&s.history, "from-history", false, "replay the history of the server instead of a trace: a job for each task")
	f.StringVar(&s.last, "last", lastDay, "with --from-history: how far back")
}

// simTrace is a trace with the jobs to simulate.
type simTrace struct {
	trace  *swf.Trace
	jobs   []swf.Job
	report swf.Report
	past   *pastNames // names of a server's past; nil for a trace from a file
	extend bool
	nodes  int
}

func (s *simFlags) read(ctx context.Context, file string) (*simTrace, error) {
	rules, err := s.rules()
	if err != nil {
		return nil, err
	}
	var trace *swf.Trace
	var past *pastNames
	if s.history {
		trace, past, err = s.readHistory(ctx)
	} else {
		trace, err = s.readTrace(ctx, file)
	}
	if err != nil {
		return nil, err
	}
	if rules.From, err = traceSecond("--from", s.from, trace); err != nil {
		return nil, err
	}
	if rules.To, err = traceSecond("--to", s.to, trace); err != nil {
		return nil, err
	}
	if rules.From != nil && rules.To != nil && *rules.From >= *rules.To {
		return nil, usagef("--from %s is not before --to %s", s.from, s.to)
	}
	t := &simTrace{trace: trace, past: past, extend: rules.Extend, nodes: s.nodes}
	t.jobs, t.report, err = trace.Jobs(rules)
	switch {
	case errors.Is(err, swf.ErrNoProcs):
		return nil, usagef("%w: give it with --procs N", err)
	case err != nil:
		return nil, usageError{err}
	case len(t.jobs) == 0:
		return nil, usagef("%s: %s%s", file, t.report.String(), t.submitted())
	}
	return t, t.checkNodes()
}

// submitted says, if the selected window has no jobs, when the jobs of a trace are submitted.
func (t *simTrace) submitted() string {
	if t.report.Outside == 0 {
		return ""
	}
	first, last := t.trace.First(), int64(0)
	for i := range t.trace.Records {
		last = max(last, t.trace.Records[i].Submit)
	}
	return fmt.Sprintf("; the last is submitted %s after the first: choose --from and --to within that", units.FormatDuration(time.Duration(last-first)*time.Second))
}

// checkNodes refuses nodes of different sizes.
func (t *simTrace) checkNodes() error {
	procs := t.report.Procs
	if t.nodes > 0 && procs%t.nodes == 0 {
		return nil
	}
	if t.nodes < 1 || t.nodes > procs {
		return usagef("--nodes must be from 1 to the %d processors, got %d", procs, t.nodes)
	}
	more := procs + t.nodes - procs%t.nodes
	return usagef("--nodes %d: %d processors do not divide evenly; use --procs %d", t.nodes, procs, more)
}

func (s *simFlags) rules() (swf.Rules, error) {
	r := swf.Rules{Procs: s.procs, Extend: s.overrun == "extend", Clip: s.oversize == "clip", ScaleLoad: s.load}
	switch {
	case !s.history && s.last != "" && s.last != lastDay:
		return r, usagef("--last %s needs --from-history; for a part of a trace, use --from and --to", s.last)
	case s.overrun != "kill" && s.overrun != "extend":
		return r, usagef("--overrun: expected kill or extend, got %q", s.overrun)
	case s.oversize != "refuse" && s.oversize != "clip":
		return r, usagef("--oversize: expected refuse or clip, got %q", s.oversize)
	case s.procs < 0 || s.procs > 1<<31-1:
		return r, usagef("--procs must be a number of processors from 1 to %d, got %d", 1<<31-1, s.procs)
	case s.load <= 0:
		return r, usagef("--scale-load must be above 0, such as 1.2 for a fifth more load, got %v", s.load)
	}
	return r, nil
}

// readTrace reads a trace. A user who typed - by mistake can interrupt it.
func (s *simFlags) readTrace(ctx context.Context, file string) (*swf.Trace, error) {
	in := s.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, usageError{err}
		}
		defer f.Close()
		in = f
	}
	type outcome struct {
		trace *swf.Trace
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		name := file
		if file == "-" {
			name = "standard input"
		}
		t, err := swf.Read(name, in)
		done <- outcome{t, err}
	}()
	select {
	case x := <-done:
		if x.err != nil {
			return nil, usageError{x.err}
		}
		if len(x.trace.Records) == 0 {
			return nil, usagef("%s holds no jobs; a trace has one on each line, 18 numbers, as fairlead sim generate writes them", x.trace.Name)
		}
		return x.trace, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// traceSecond parses a bound of a window: 30d after the first submission, an instant, or a second of the
// trace.
func traceSecond(flag, text string, t *swf.Trace) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return &n, nil
	}
	if d, err := units.ParseDuration(text); err == nil {
		n := int64(d/time.Second) + t.First()
		return &n, nil
	}
	at, err := units.ParseInstant(text, time.Unix(t.UnixStartTime, 0).UTC())
	if err != nil {
		return nil, usagef(
			"%s %q: expected 30d after the first submission, a date such as 2026-12-24, or a number of seconds into the trace",
			flag, text)
	}
	if t.UnixStartTime == 0 {
		return nil, usagef("%s %s: the trace does not say when it began (; UnixStartTime:); give a duration after its first submission, such as 30d", flag, text)
	}
	n := at.Unix() - t.UnixStartTime
	return &n, nil
}

// simPolicy is the policy of a simulation.
type simPolicy struct {
	name   string // policy of the root
	shares allocation.Config
	front  *bridge.Groups // for frontback: jobs wait in a queue that knows only priorities
}

func (p *simPolicy) backfill() string { return p.shares.Sched.Backfill.String() }

// traceArgs requires a trace or --from-history.
func (s *simFlags) traceArgs(_ *cobra.Command, args []string) error {
	if len(args) > 1 || s.history == (len(args) == 1) {
		return usagef("expected a trace, or --from-history")
	}
	return nil
}

// source names the simulated workload.
func (s *simFlags) source(args []string) string {
	if s.history {
		return "history"
	}
	return args[0]
}

// readHistory makes a trace of the server's past, in which queues stand for pools.
func (s *simFlags) readHistory(ctx context.Context) (*swf.Trace, *pastNames, error) {
	back, err := units.ParseDuration(s.last)
	if err != nil || back <= 0 {
		return nil, nil, usagef("--last %q: expected a time such as 24h or 7d", s.last)
	}
	var w *api.Workload
	if err := s.with(func(client *api.Client) (err error) {
		w, err = client.Past(ctx, back.Seconds())
		return err
	}); err != nil {
		return nil, nil, err
	}
	t := &swf.Trace{Name: "history", Header: swf.Header{Procs: w.Units, UnixStartTime: w.From.Unix(), Comments: []string{
		fmt.Sprintf("Note: the last %s of a server, a line for each task", span(back)), fmt.Sprintf("UnixStartTime: %d", w.From.Unix()),
	}}}
	names := &pastNames{w.Users, w.Pools, w.Jobs}
	for _, j := range w.Jobs {
		t.Records = append(t.Records, swf.Record{
			Job: j.Job, Submit: j.Submit, Run: j.Run, Estimate: j.Estimate, Used: j.Units, Requested: j.Units, User: j.User, Queue: j.Pool,
			Status: swf.Completed, Wait: swf.Unknown, CPU: swf.Unknown, Memory: swf.Unknown, ReqMemory: swf.Unknown,
			Group: swf.Unknown, App: swf.Unknown, Partition: swf.Unknown, After: swf.Unknown, Think: swf.Unknown,
		})
	}
	if len(t.Records) == 0 {
		return nil, nil, usagef("the server has no task of the last %s that could be replayed: none has ended, so their run times are unknown", span(back))
	}
	printGuesses(s.errs, w.Guessed, w.LeftOut)
	if w.Cut {
		fmt.Fprintln(s.errs, "too many tasks: only the latest are included")
	}
	return t, names, nil
}

// backfillNames returns the backfill rules by their names.
func backfillNames() map[string]sched.Backfill {
	known := map[string]sched.Backfill{}
	for r := sched.FirstFit; r.String() != ""; r++ {
		known[r.String()] = r
	}
	return known
}

// backfillList lists the names of the backfill rules.
func backfillList() string { return strings.Join(slices.Sorted(maps.Keys(backfillNames())), ", ") }

// workload puts the jobs of a trace into the pools of a policy, and applies the time limits of the pools.
func (t *simTrace) workload(p *simPolicy) (*sim.Workload, error) {
	place := p.shares.PoolFor
	if t.past != nil {
		place = func(o share.Origin) (string, error) { return t.past.place(&p.shares, o) }
	}
	w, err := sim.FromTrace(t.trace, t.jobs, t.report.Procs, place)
	if err != nil {
		return nil, usageError{fmt.Errorf("%w (user 12 of a trace is called u12)", err)}
	}
	w.Nodes = t.nodes
	root := &p.shares.Sched.Root
	if t.past == nil {
		w.Limit(root, t.extend)
		if len(w.Jobs) == 0 {
			return nil, usagef("%s: all %s left out: they ask for more time than their pools allow (max_time)", t.trace.Name, count(w.Limits.Refused, "job is", "jobs are"))
		}
		return w, nil
	}
	for i, name := range w.Users {
		w.Users[i] = named(t.past.users, name)
	}
	for i := range w.Jobs {
		was := &t.past.jobs[w.Jobs[i].Record]
		w.Jobs[i].NoLimit, w.Jobs[i].Running = was.NoLimit, was.Running
	}
	w.Plan(root)
	return w, nil
}

// comments returns the header of the trace that a simulation makes from this one.
func (t *simTrace) comments() []string {
	return append(slices.Clone(t.trace.Comments), "Note: simulated: wait times are those of fairlead sim run", fmt.Sprintf("MaxProcs: %d", t.report.Procs))
}

// pastNames holds the names behind the numbers in a trace of a server's past.
type pastNames struct {
	users, pools []string
	jobs         []api.WorkloadJob // by line of the trace
}

// place returns the pool in which jobs were, or the pool that they would have under other shares.
func (n *pastNames) place(shares *allocation.Config, o share.Origin) (string, error) {
	return simhistory.Leaf(shares, named(n.pools, o.Requestor), named(n.users, o.User)), nil
}

// named returns the name for a number such as u12.
func named(names []string, text string) string {
	if i, err := strconv.Atoi(text[1:]); err == nil && i >= 0 && i < len(names) {
		return names[i]
	}
	return text
}
