package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	simhistory "github.com/fairlead/fairlead/internal/sim/history"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// traceArgs wants a trace, or the past of a server.
func (s *simFlags) traceArgs(_ *cobra.Command, args []string) error {
	if len(args) > 1 || s.history == (len(args) == 1) {
		return usagef("expected a trace, or --from-history")
	}
	return nil
}

// source names what is simulated.
func (s *simFlags) source(args []string) string {
	if s.history {
		return "history"
	}
	return args[0]
}

// pastNames are the names behind the numbers of a trace that was made of a server's past.
type pastNames struct {
	users, pools []string
	jobs         []api.WorkloadJob // by line of the trace
}

// readHistory makes a trace of the past of the server: queues stand for pools.
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
		return nil, nil, usagef("the server has no task of the last %s that could be replayed: none has ended, so nobody knows how long they run", span(back))
	}
	tellGuesses(s.errs, w.Guessed, w.LeftOut)
	if w.Cut {
		fmt.Fprintln(s.errs, "there were too many tasks: these are the latest")
	}
	return t, names, nil
}

// tellGuesses says what a replay of the past takes for granted, and what it leaves out.
func tellGuesses(w io.Writer, guessed, leftOut int) {
	if guessed > 0 {
		fmt.Fprintf(w, "%s not ended; run times are those of others of the same user\n", count(guessed, "task has", "tasks have"))
	}
	if leftOut > 0 {
		fmt.Fprintf(w, "%s left out: larger than the machine, or nobody knows how long they run\n", count(leftOut, "task", "tasks"))
	}
}

// place is the pool in which jobs were, or would be under other shares.
func (n *pastNames) place(shares *fairlead.Shares, o share.Origin) (string, error) {
	return simhistory.Leaf(shares, named(n.pools, o.Requestor), named(n.users, o.User)), nil
}

// named is the name behind one of the form u12.
func named(names []string, text string) string {
	if i, err := strconv.Atoi(text[1:]); err == nil && i >= 0 && i < len(names) {
		return names[i]
	}
	return text
}
