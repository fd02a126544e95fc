package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
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
		table.Column{Name: "GPU", Right: true}, table.Column{Name: "TASKS", Right: true}, table.Column{Name: "AGENT"}, table.Column{Name: "LAST SEEN", Right: true}, table.Column{Name: "WHY NOT MORE"})
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		seen := "-"
		if !n.Seen.IsZero() {
			seen = span(doc.At.Sub(n.Seen))
		}
		t.Row(n.Name, n.State, used(n, doc.Unit), used(n, "mem"), used(n, "gpu"), n.Tasks, dash(n.Version), seen, whyNotMore(n, doc.Unit))
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

// whyNotMore says why a node does not run more tasks.
func whyNotMore(n *fairlead.NodeView, unit string) string {
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
	c := &cobra.Command{
		Use:     "drain NODE...",
		Short:   "Let a node take nothing new; what runs goes on",
		Example: "  fairlead drain n5 --reason 'fan is broken'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.setDrained(c.Context(), args, api.DrainRequest{Drain: true, Reason: reason}, "draining %s    (undo: fairlead resume %s)\n")
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for those who ask")
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
