package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
)

type history struct {
	*app
	listing
	selection
	since  string
	job    int64
	node   string
	limit  int
	stops  bool
	long   bool
	causes bool
}

func historyCommand(a *app) *cobra.Command {
	h := &history{app: a}
	c := &cobra.Command{
		Use:   "history [JOB]",
		Short: "List ended jobs, or the history of one job or node",
		Long: `List ended jobs, or the history of one job or node.

MEMORY is the peak memory of a task. "6G (asked for 4G)" means that the task used more than its
--mem, which only chooses a node and is not enforced.`,
		Example: `  fairlead history -u ann -S 24h
  fairlead history 1042                everything that happened to job 1042
  fairlead history -S 7d -o job,user,pool,cpu,request,ran
  fairlead history --node n1 -S 1h     tasks that ran on n1 in the last hour, and how each ended
  fairlead history --causes -S 1h      why jobs failed in the last hour, the most frequent cause first
  fairlead history --stops             preempted tasks, and the work that was lost`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := h.setJob(args); err != nil {
				return err
			}
			return h.with(func(client *api.Client) error {
				if h.stops {
					return h.repeat(c.Context(), &h.listing, func() error { return h.listStops(c.Context(), client) })
				}
				if h.node != "" {
					return h.repeat(c.Context(), &h.listing, func() error {
						return (&nodeHistory{a, &h.listing, h.node, h.since}).list(c.Context(), client)
					})
				}
				if h.job > 0 {
					return h.one(c.Context(), client)
				}
				return h.repeat(c.Context(), &h.listing, func() error { return h.list(c.Context(), client) })
			})
		},
	}
	h.listing.flags(c)
	h.selection.flags(c)
	c.Flags().StringVarP(&h.since, "since", "S", "24h", "jobs that ended since: 24h, 7d, 2026-11-01, 08:00")
	c.Flags().Int64VarP(&h.job, "job", "j", 0, "show the history of this job")
	c.Flags().StringVar(&h.node, "node", "", "show the tasks that ran on this node since --since, and how each ended")
	c.Flags().BoolVarP(&h.long, "long", "l", false,
		"more columns: the request, kind, tasks and start; and the node, exit code, processor time and memory of the "+
			"task that ended or failed last")
	c.Flags().BoolVar(&h.causes, "causes", false, "count failed jobs by cause, the most frequent first")
	c.Flags().BoolVar(&h.stops, "stops", false, "list preempted tasks with rule, numbers and lost work; select with -j and -S")
	c.Flags().IntVar(&h.limit, "limit", 1000, "maximum number of jobs, newest first")
	return c
}

// setJob takes the job from the argument instead of the flag -j.
func (h *history) setJob(args []string) error {
	if len(args) == 0 {
		return nil
	}
	ids, err := jobIDs(args)
	if err != nil {
		return err
	}
	if h.job > 0 && h.job != ids[0] {
		return usagef("give one job: -j %d or %d", h.job, ids[0])
	}
	h.job = ids[0]
	return nil
}

// asked returns the parameters for the jobs to list.
func (h *history) asked() (url.Values, error) {
	since, err := units.ParsePast(h.since, time.Now())
	if err != nil {
		return nil, usagef("--since: %w", err)
	}
	v, err := h.values()
	if err != nil {
		return nil, err
	}
	if len(h.states) == 0 {
		v["state"] = []string{"succeeded", "failed", "cancelled"}
	}
	if slices.Contains(v["state"], "failed") { // tasks of an array that still runs may have failed for good
		v.Set("failing", "true")
	}
	v.Set("since", since.Format(time.RFC3339Nano))
	v.Set("newest", "true")
	v.Set("limit", strconv.Itoa(h.limit))
	return v, nil
}

func (h *history) list(ctx context.Context, client *api.Client) error {
	if h.causes && len(h.states) == 0 {
		h.states = []string{"failed"}
	}
	v, err := h.asked()
	if err != nil {
		return err
	}
	if h.causes {
		return (&causeList{h.app, &h.listing, h.limit}).list(ctx, client, v)
	}
	h.long = h.long || len(h.columns) > 0
	if h.long || h.json {
		v.Set("ends", "true")
	}
	return show(h.app, h.json, h.table)(client.Jobs.List(ctx, v))
}

func (h *history) table(list *api.JobList) error {
	columns := []table.Column{
		{Name: "JOB", Right: true}, {Name: "USER"}, {Name: "POOL", Least: 14}, {Name: "NAME", Spare: 1}, {Name: "STATE"},
		{Name: "SUBMITTED", Whole: true, Spare: 4}, {Name: "WAITED", Right: true, Spare: 2}, {Name: "RAN", Right: true},
		{Name: "LIMIT", Right: true, Spare: 5}, {Name: "ENDED", Whole: true, Spare: 3}, {Name: "CAUSE"},
	}
	if h.long {
		columns = append(columns, table.Column{Name: "STARTED", Whole: true, Spare: 5},
			table.Column{Name: "KIND", Spare: 7}, table.Column{Name: "TASKS", Whole: true, Spare: 6},
			table.Column{Name: strings.ToUpper(list.Summary.Unit), Right: true, Spare: 4},
			table.Column{Name: "REQUEST", Spare: 7}, table.Column{Name: "PRIORITY", Spare: 7}, table.Column{Name: "NODE"},
			table.Column{Name: "EXIT", Right: true}, table.Column{Name: "CPU-TIME", Right: true, Spare: 2},
			table.Column{Name: "MEMORY", Right: true, Spare: 2}, table.Column{Name: "COMMAND", Spare: 9})
	}
	t := table.New(columns...)
	sort.Slice(list.Jobs, func(i, j int) bool { return list.Jobs[i].ID < list.Jobs[j].ID })
	for i := range list.Jobs {
		j := &list.Jobs[i]
		waited, ran := "-", "-"
		if j.Started != nil {
			waited = span(j.Started.Sub(j.Submitted))
			if j.Ended != nil {
				ran = span(j.Ended.Sub(*j.Started))
			}
		}
		row := []any{j.ID, j.User, words.Pool(j.Pool), dash(j.Name), stateOf(j), clock(j.Submitted, list.At), waited, ran,
			words.Limit(j.LimitSeconds), clockOr(j.Ended, list.At), dash(plain.Line(firstLine(j.Cause)))}
		if h.long {
			row = append(row, clockOr(j.Started, list.At), dash(j.Kind), tasksOf(j),
				words.Units(j, list.Summary.Unit), dash(amounts(j.Request, list.Summary.Unit)), j.Priority)
			row = append(append(row, endColumns(j)...), command(j))
		}
		t.Row(row...)
	}
	return h.print(&h.listing, t)
}

// stateOf is the state of a job; of an array that has not ended it also counts the failed tasks.
func stateOf(j *api.Job) string {
	if words.Done(j.State) || j.Failed == 0 {
		return j.State
	}
	return fmt.Sprintf("%s, %d failed", j.State, j.Failed)
}

// endColumns writes how a job ended: node, exit, processor time and peak memory of the task that ended last or, if any
// failed, of the task that failed last.
func endColumns(j *api.Job) []any {
	t := j.LastEnd
	if t == nil {
		return []any{"-", "-", "-", "-"}
	}
	exit := words.Exit(t)
	if exit == "" && t.Ended != nil && !t.Queued {
		exit = strconv.Itoa(t.ExitCode)
	}
	return []any{dash(t.Node), dash(exit), span(time.Duration(t.CPUSeconds * float64(time.Second))),
		words.PeakMemory(t.MaxRSS, j.Request)}
}

// one prints the events and the tasks of one job.
func (h *history) one(ctx context.Context, client *api.Client) error {
	events, err := client.Jobs.History(ctx, h.job, -1)
	if err != nil {
		return err
	}
	r, err := client.Jobs.Get(ctx, h.job)
	if err != nil {
		return err
	}
	if h.json {
		return h.printJSON(map[string]any{"version": api.Version, "job": r.Job, "tasks": r.Tasks, "events": events.Events})
	}
	if err := printEvents(h.app.out, events.Events); err != nil {
		return err
	}
	if len(r.Tasks) == 0 {
		return nil
	}
	t := table.New(table.Column{Name: "TASK", Right: true}, table.Column{Name: "STATE"}, table.Column{Name: "ATTEMPT", Right: true},
		table.Column{Name: "NODE"}, table.Column{Name: "RAN", Right: true}, table.Column{Name: "EXIT", Right: true},
		table.Column{Name: "CPU", Right: true}, table.Column{Name: "MEMORY", Right: true}, table.Column{Name: "CAUSE"})
	for i := range r.Tasks {
		t.Row(taskRow(&r.Tasks[i], r.Job.Request)...)
	}
	return t.Print(h.out)
}

// listStops lists the tasks that were preempted, with the lost work and the reason.
func (h *history) listStops(ctx context.Context, client *api.Client) error {
	since, err := units.ParsePast(h.since, time.Now())
	if err != nil {
		return usagef("--since: %w", err)
	}
	return show(h.app, h.json, h.stopped)(client.Jobs.Stops(ctx, since, h.job, h.limit))
}

func (h *history) stopped(list *api.StopList) error {
	t := table.New(table.Column{Name: "WHEN"}, table.Column{Name: "RULE"}, table.Column{Name: "JOB", Right: true}, table.Column{Name: "POOL"},
		table.Column{Name: "RAN", Right: true}, table.Column{Name: "LOST", Right: true}, table.Column{Name: "FOR"}, table.Column{Name: "HAD"},
		table.Column{Name: "OWED", Right: true}, table.Column{Name: "ROOM FOR", Right: true}, table.Column{Name: "SAFE UNTIL"})
	for i := range list.Stops {
		t.Row(stopRow(&list.Stops[i], list.At)...)
	}
	if err := h.print(&h.listing, t); err != nil {
		return err
	}
	if h.terminal() && !h.noHeader && len(list.Stops) > 0 {
		fmt.Fprintln(h.out, priceOf(list.Stops))
	}
	return nil
}

func taskRow(k *api.Task, request map[string]int64) []any {
	ran := "-"
	if k.Ended != nil && !k.Queued {
		ran = span(k.Ended.Sub(k.Started))
	}
	status := strconv.Itoa(k.ExitCode)
	if k.Signal != "" {
		status = k.Signal
	}
	state := k.State
	if k.Queued && state == "running" {
		state = "queued"
	}
	return []any{k.Number, state, k.Attempt, k.Node, ran, status, span(time.Duration(k.CPUSeconds * float64(time.Second))),
		words.PeakMemory(k.MaxRSS, request), dash(plain.Line(firstLine(k.Cause)))}
}
