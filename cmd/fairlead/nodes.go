package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

func (a *app) nodesCommand() *cobra.Command {
	var l listing
	var tasks bool
	var past time.Duration
	c := &cobra.Command{
		Use:     "nodes [--tasks [NODE...]]",
		Short:   "List the machines, or what runs on them",
		Example: "  fairlead nodes\n  fairlead nodes --tasks n3 n4     what runs there, and until when at most\n  fairlead nodes --tasks n3 --past 1h   and what ended there in the last hour",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && !tasks:
				return usagef("nodes are named with --tasks")
			case past != 0 && !tasks:
				return usagef("--past tells of tasks: say --tasks, too")
			case past < 0 || past > 7*24*time.Hour:
				return usagef("--past reaches back for up to 168h")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(func(client *api.Client) error {
				return a.repeat(c.Context(), &l, func() error {
					if tasks {
						return a.showNodeTasks(c.Context(), client, &l, args, past)
					}
					return a.showNodes(c.Context(), client, &l)
				})
			})
		},
	}
	l.flags(c)
	c.Flags().DurationVar(&past, "past", 0, "with --tasks: list what ended within so long, too; of each node the last 64 since the server was started")
	c.Flags().BoolVar(&tasks, "tasks", false, "what runs on these nodes, or on all, and until when at most")
	return c
}

func (a *app) showNodeTasks(ctx context.Context, client *api.Client, l *listing, nodes []string, past time.Duration) error {
	doc, err := client.NodeTasks(ctx, nodes, past)
	if err != nil {
		return err
	}
	if l.json {
		return a.printJSON(doc)
	}
	t := table.New(table.Column{Name: "NODE"}, table.Column{Name: "JOB", Right: true}, table.Column{Name: "USER"}, table.Column{Name: "POOL"},
		table.Column{Name: words.Unit(doc.Unit), Right: true}, table.Column{Name: "STARTED"}, table.Column{Name: "ENDS BY"}, table.Column{Name: "NOTE"})
	for i := range doc.Tasks {
		x := &doc.Tasks[i]
		ends := "-"
		note := x.Stop
		switch {
		case x.Ended != nil:
			ends, note = clock(*x.Ended, doc.At), "ended"
		case x.Ends != nil:
			ends = clock(*x.Ends, doc.At)
		case x.Queued && note == "":
			note = "queued behind it"
		}
		t.Row(x.Node, x.Job, x.User, x.Pool, x.Units, clock(x.Started, doc.At), ends, dash(plain.Line(note)))
	}
	return a.print(l, t)
}

func (a *app) showNodes(ctx context.Context, client *api.Client, l *listing) error {
	doc, err := client.Nodes(ctx)
	if err != nil {
		return err
	}
	if l.json {
		return a.printJSON(doc)
	}
	t := table.New(table.Column{Name: "NODE"}, table.Column{Name: "STATE"}, table.Column{Name: words.Unit(doc.Unit), Right: true}, table.Column{Name: "MEM", Right: true},
		table.Column{Name: "GPU", Right: true}, table.Column{Name: "TASKS", Right: true}, table.Column{Name: "LABELS"}, table.Column{Name: "AGENT"}, table.Column{Name: "LAST SEEN", Right: true}, table.Column{Name: "WHY NOT MORE"})
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		seen := "-"
		if !n.Seen.IsZero() {
			seen = span(doc.At.Sub(n.Seen))
		}
		t.Row(n.Name, n.State, words.Used(n, doc.Unit), words.Used(n, "mem"), words.GPUs(n), n.Tasks, dash(words.Labels(n)), dash(n.Version), seen, words.WhyNotMore(n, doc.Unit, doc.At))
	}
	return a.print(l, t)
}

func (a *app) drainCommand() *cobra.Command {
	var reason string
	var maint, forget bool
	c := &cobra.Command{
		Use:   "drain NODE...",
		Short: "Let a node take nothing new; what runs goes on",
		Long: `Let a node take nothing new; what runs goes on. With --maint its state is maintenance:
somebody works on it, and it comes back. Both last until fairlead resume.

With --forget a node that is gone for good is forgotten: that it was drained and, of a bridge,
which ledger it had. It has to be down and to have no tasks.`,
		Example: "  fairlead drain n5 --reason 'fan is broken'\n  fairlead drain n5 n6 --maint --reason 'new switch, until noon'\n  fairlead drain --forget oldbridge",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if forget && (maint || reason != "") {
				return usagef("--forget goes without --maint and --reason: what is forgotten is not drained any more")
			} else if forget {
				return a.setDrained(c.Context(), args, api.DrainRequest{Forget: true}, "%s is forgotten\n")
			}
			return a.setDrained(c.Context(), args, api.DrainRequest{Drain: true, Maintenance: maint, Reason: reason}, "draining %[1]s    (undo: fairlead resume %[1]s)\n")
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for those who ask")
	c.Flags().BoolVar(&maint, "maint", false, "the node is in maintenance")
	c.Flags().BoolVar(&forget, "forget", false, "the nodes are gone for good: keep nothing of them")
	return c
}

func (a *app) setDrained(ctx context.Context, nodes []string, r api.DrainRequest, said string) error {
	return a.with(func(client *api.Client) error {
		for _, n := range nodes {
			if err := a.drain(ctx, client, n, r, said); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *app) drain(ctx context.Context, client *api.Client, node string, r api.DrainRequest, said string) error {
	now, err := client.Drain(ctx, node, r)
	if err != nil {
		return err
	}
	if now.State == "down" && !r.Drain && !r.Forget {
		said = "%s is not drained, but down: it takes tasks when its agent is back (fairlead work)\n"
	}
	fmt.Fprintf(a.out, said, node)
	return nil
}
