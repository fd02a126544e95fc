package main

import (
	"context"
	"github.com/fairlead/fairlead/internal/units"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

type history struct {
	*app
	listing
	selection
	since string
	job   int64
	limit int
	stops bool
}

func (a *app) historyCommand() *cobra.Command {
	h := &history{app: a}
	c := &cobra.Command{
		Use:   "history",
		Short: "List jobs that have ended, or what happened to one",
		Example: `  fairlead history -u ann -S 24h
  fairlead history -j 1042             everything that happened to job 1042
  fairlead history --stops             tasks that were stopped for others, and the price`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return h.with(func(client *api.Client) error {
				if h.stops {
					return h.repeat(c.Context(), &h.listing, func() error { return h.listStops(c.Context(), client) })
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
	c.Flags().Int64VarP(&h.job, "job", "j", 0, "one job, with all that happened to it")
	c.Flags().BoolVar(&h.stops, "stops", false, "tasks that were stopped so that others got their room, with rule, numbers and price; -j and -S choose")
	c.Flags().IntVar(&h.limit, "limit", 1000, "at most so many jobs, the newest")
	return c
}

func (h *history) list(ctx context.Context, client *api.Client) error {
	since, err := units.ParsePast(h.since, time.Now())
	if err != nil {
		return usagef("--since: %w", err)
	}
	v, err := h.values()
	if err != nil {
		return err
	}
	if len(h.states) == 0 {
		v["state"] = []string{"succeeded", "failed", "cancelled"}
	}
	v.Set("since", since.Format(time.RFC3339Nano))
	v.Set("newest", "true")
	v.Set("limit", strconv.Itoa(h.limit))
	list, err := client.Jobs(ctx, v)
	if err != nil {
		return err
	}
	if h.json {
		return h.printJSON(list)
	}
	t := table.New(table.Column{Name: "JOB", Right: true}, table.Column{Name: "USER"}, table.Column{Name: "POOL"}, table.Column{Name: "NAME"},
		table.Column{Name: "STATE"}, table.Column{Name: "SUBMITTED"}, table.Column{Name: "WAITED", Right: true},
		table.Column{Name: "RAN", Right: true}, table.Column{Name: "LIMIT", Right: true}, table.Column{Name: "ENDED"}, table.Column{Name: "CAUSE"})
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
		t.Row(j.ID, j.User, j.Pool, dash(j.Name), j.State, clock(j.Submitted, list.At), waited, ran, words.Limit(j.LimitSeconds), ended(j, list.At), dash(plain.Line(firstLine(j.Cause))))
	}
	return h.print(&h.listing, t)
}

func ended(j *api.Job, now time.Time) string {
	if j.Ended == nil {
		return "-"
	}
	return clock(*j.Ended, now)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// one tells everything about one job: its events and its tasks.
func (h *history) one(ctx context.Context, client *api.Client) error {
	events, err := client.History(ctx, h.job)
	if err != nil {
		return err
	}
	r, err := client.Job(ctx, h.job)
	if err != nil {
		return err
	}
	if h.json {
		return h.printJSON(map[string]any{"version": api.Version, "job": r.Job, "tasks": r.Tasks, "events": events.Events})
	}
	if err := h.app.printEvents(events.Events); err != nil {
		return err
	}
	if len(r.Tasks) == 0 {
		return nil
	}
	t := table.New(table.Column{Name: "TASK", Right: true}, table.Column{Name: "STATE"}, table.Column{Name: "ATTEMPT", Right: true},
		table.Column{Name: "NODE"}, table.Column{Name: "RAN", Right: true}, table.Column{Name: "EXIT", Right: true},
		table.Column{Name: "CPU", Right: true}, table.Column{Name: "MEMORY", Right: true}, table.Column{Name: "CAUSE"})
	for i := range r.Tasks {
		t.Row(taskRow(&r.Tasks[i])...)
	}
	return t.Print(h.out)
}

func taskRow(k *api.Task) []any {
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
	return []any{k.Number, state, k.Attempt, k.Node, ran, status, span(time.Duration(k.CPUSeconds * float64(time.Second))), size(k.MaxRSS), dash(plain.Line(firstLine(k.Cause)))}
}

// sortStable sorts jobs without changing the order of equals.
func sortStable(jobs []api.Job, less func(a, b *api.Job) bool) {
	sort.SliceStable(jobs, func(i, j int) bool { return less(&jobs[i], &jobs[j]) })
}
