package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	recorder "github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
)

// nodeRuns is the answer of history --node as JSON.
type nodeRuns struct {
	Version int                 `json:"version"`
	At      time.Time           `json:"at"`
	Runs    []recorder.NodeTask `json:"runs"`
}

// nodeHistory lists the tasks that ran on a node.
type nodeHistory struct {
	*app
	listing     *listing
	node, since string
}

// longestPast is how far back the server lists the tasks of nodes.
const longestPast = 7 * 24 * time.Hour

// list lists the tasks that ran on a node since --since, the last first, and how each ended.
func (h *nodeHistory) list(ctx context.Context, client *api.Client) error {
	now := time.Now()
	since, err := units.ParsePast(h.since, now)
	if err != nil {
		return usagef("--since: %w", err)
	}
	if _, err := nodesNamed(ctx, client, []string{h.node}); err != nil {
		return err
	}
	doc, err := client.Nodes.Tasks(ctx, []string{h.node}, min(now.Sub(since), longestPast))
	if err != nil {
		return err
	}
	out := nodeRuns{Version: api.Version, At: doc.At, Runs: doc.Tasks}
	slices.Reverse(out.Runs)
	if h.listing.json {
		return h.printJSON(out)
	}
	plain.Lines(&out)
	return h.table(&out)
}

func (h *nodeHistory) table(doc *nodeRuns) error {
	t := table.New(table.Column{Name: "JOB", Right: true}, table.Column{Name: "TASK", Right: true, Spare: 1},
		table.Column{Name: "USER"}, table.Column{Name: "POOL", Least: 10, Spare: 2},
		table.Column{Name: "STARTED", Whole: true}, table.Column{Name: "ENDED", Whole: true}, table.Column{Name: "RAN", Right: true}, table.Column{Name: "STATE"},
		table.Column{Name: "EXIT", Right: true}, table.Column{Name: "MEMORY", Right: true, Spare: 3},
		table.Column{Name: "CAUSE", Wraps: true})
	for i := range doc.Runs {
		r := &doc.Runs[i]
		until := doc.At
		if r.Ended != nil {
			until = *r.Ended
		}
		row := []any{r.Job, numberOf(r), r.User, words.Pool(r.Pool), clock(r.Started, doc.At),
			clockOr(r.Ended, doc.At), span(until.Sub(r.Started))}
		t.Row(append(row, howRunEnded(r)...)...)
	}
	if err := h.print(h.listing, t); err != nil {
		return err
	}
	if h.terminal() && !h.listing.noHeader {
		fmt.Fprintln(h.out, "the server keeps the last 64 ended tasks of each node since it started")
	}
	return nil
}

// howRunEnded writes state, exit, memory and cause of a run.
func howRunEnded(r *recorder.NodeTask) []any {
	switch {
	case r.Ended == nil:
		return []any{"running", "-", "-", dash(plain.Line(r.Stop))}
	case r.State == "":
		return []any{"ended", "-", "-", "another server knows how"}
	}
	return []any{r.State, dash(words.ExitOf(r.Signal, r.ExitCode)), size(r.MaxRSS), dash(plain.Line(r.Cause))}
}
