package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/why"
)

func (a *app) nodesCommand() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use:   "nodes",
		Short: "List the machines",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				return a.repeat(c.Context(), &l, func() error { return a.showNodes(c.Context(), client, &l) })
			})
		},
	}
	l.flags(c)
	return c
}

func (a *app) showNodes(ctx context.Context, client *api.Client, l *listing) error {
	doc, err := client.Nodes(ctx)
	if err != nil {
		return err
	}
	if l.json {
		return a.printJSON(doc)
	}
	t := table.New(table.Column{Name: "NODE"}, table.Column{Name: "STATE"}, table.Column{Name: unitName(doc.Unit), Right: true}, table.Column{Name: "MEM", Right: true},
		table.Column{Name: "GPU", Right: true}, table.Column{Name: "TASKS", Right: true}, table.Column{Name: "LABELS"}, table.Column{Name: "AGENT"}, table.Column{Name: "LAST SEEN", Right: true}, table.Column{Name: "WHY NOT MORE"})
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		seen := "-"
		if !n.Seen.IsZero() {
			seen = span(doc.At.Sub(n.Seen))
		}
		t.Row(n.Name, n.State, used(n, doc.Unit), used(n, "mem"), gpus(n), n.Tasks, dash(labels(n)), dash(n.Version), seen, whyNotMore(n, doc.Unit, doc.At))
	}
	return a.print(l, t)
}

func unitName(unit string) string {
	if unit == "cpu" {
		return "CPU"
	}
	return unit
}

// used shows how much of a resource is in use, of how much.
func used(n *fairlead.NodeView, resource string) string {
	all, ok := n.Capacity[resource]
	if !ok || all == 0 {
		return "-"
	}
	return amount(resource, all-n.Free[resource]) + "/" + amount(resource, all)
}

// gpus shows the GPUs in use: 1/4, with types 1/4 a100, with several 3/6 (a100 2/4, h100 1/2).
func gpus(n *fairlead.NodeView) string {
	var kinds, parts []string
	for _, r := range slices.Sorted(maps.Keys(n.Capacity)) {
		if kind, typed := strings.CutPrefix(r, "gpu:"); typed && n.Capacity[r] > 0 {
			kinds, parts = append(kinds, kind), append(parts, kind+" "+used(n, r))
		}
	}
	switch {
	case len(kinds) == 1 && n.Capacity["gpu:"+kinds[0]] == n.Capacity["gpu"]:
		return used(n, "gpu") + " " + kinds[0]
	case len(kinds) > 0:
		return used(n, "gpu") + " (" + strings.Join(parts, ", ") + ")"
	}
	return used(n, "gpu")
}

// labels shows the labels of a node, without its name.
func labels(n *fairlead.NodeView) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.Labels)) {
		if value := n.Labels[name]; name != "host" || value != n.Name {
			parts = append(parts, name+"="+value)
		}
	}
	return strings.Join(parts, " ")
}

// whyNotMore says why a node does not run more tasks, what is kept on it, and at which other
// server it is.
func whyNotMore(n *fairlead.NodeView, unit string, now time.Time) string {
	text := whyNotHere(n, unit, now)
	if n.Server != "" {
		text += "; at server " + n.Server
	}
	return text
}

func whyNotHere(n *fairlead.NodeView, unit string, now time.Time) string {
	notes := keptOn(n, unit, now)
	if n.State == "up" && notes != "" && n.Why == "" && n.Free[unit] == n.Capacity[unit] {
		return notes
	}
	text := whyNow(n, unit)
	if notes != "" {
		text += "; " + notes
	}
	return text
}

// keptOn says for what a node is kept, and for how long it is free until then.
func keptOn(n *fairlead.NodeView, unit string, now time.Time) string {
	var parts []string
	var next time.Time
	closed := n.State != "up"
	upTo := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, w := range n.Windows {
		switch begun := !w.From.After(now); {
		case begun && w.Maintenance: // its state says so
		case begun:
			closed = true
			parts = append(parts, fmt.Sprintf("reserved until %s for %s", why.Clock(w.To, now), w.Name))
		case w.Maintenance:
			parts = append(parts, fmt.Sprintf("maintenance %s in %s, until %s", w.Name, why.Until(w.From, now), why.Clock(w.To, now)))
		default:
			parts = append(parts, fmt.Sprintf("reserved from %s for %s", why.Clock(w.From, now), w.Name))
		}
		upTo(w.From)
	}
	if len(n.Kept) > 0 {
		parts = append(parts, fmt.Sprintf("reserved from %s for %d", why.Clock(n.Kept[0].From, now), n.Kept[0].Job))
		upTo(n.Kept[0].From)
	}
	if !closed && !next.IsZero() && n.Free[unit] > 0 {
		parts = append(parts, why.Until(next, now)+" window open")
	}
	return strings.Join(parts, "; ")
}

// whyNow says why a node does not run more tasks at this moment.
func whyNow(n *fairlead.NodeView, unit string) string {
	switch {
	case n.Why != "":
		return n.Why
	case n.State == "down":
		return "its agent is not connected"
	case n.Free[unit] == 0:
		return "all " + unit + " in use"
	case n.Free[unit] < n.Capacity[unit]:
		return fmt.Sprintf("%d %s free: what waits asks for more, or is held back", n.Free[unit], unit)
	}
	return "nothing waits that may run here"
}

func (a *app) drainCommand() *cobra.Command {
	var reason string
	var maint bool
	c := &cobra.Command{
		Use:   "drain NODE...",
		Short: "Let a node take nothing new; what runs goes on",
		Long: `Let a node take nothing new; what runs goes on. With --maint its state is maintenance:
somebody works on it, and it comes back. Both last until fairlead resume.`,
		Example: "  fairlead drain n5 --reason 'fan is broken'\n  fairlead drain n5 n6 --maint --reason 'new switch, until noon'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.setDrained(c.Context(), args, api.DrainRequest{Drain: true, Maintenance: maint, Reason: reason}, "draining %s    (undo: fairlead resume %s)\n")
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for those who ask")
	c.Flags().BoolVar(&maint, "maint", false, "the node is in maintenance")
	return c
}

func (a *app) resumeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resume NODE...",
		Short: "Let a drained node take tasks again",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.setDrained(c.Context(), args, api.DrainRequest{}, "%s takes tasks again    (undo: fairlead drain %s)\n")
		},
	}
}

func (a *app) setDrained(ctx context.Context, nodes []string, r api.DrainRequest, said string) error {
	return a.with(func(client *api.Client) error {
		for _, n := range nodes {
			if err := client.Drain(ctx, n, r); err != nil {
				return err
			}
			fmt.Fprintf(a.out, said, n, n)
		}
		return nil
	})
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
