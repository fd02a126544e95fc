package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	recorder "github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
)

func nodesCommand(a *app) *cobra.Command {
	var l listing
	var tasks bool
	var past time.Duration
	c := &cobra.Command{
		Use:   "nodes [--tasks] [NODE...]",
		Short: "List nodes, or the tasks that run on them",
		Example: `  fairlead nodes
  fairlead nodes n3 n4
  fairlead nodes --tasks n3 n4          # tasks that run there, and when each ends at the latest
  fairlead nodes --tasks n3 --past 1h   # also tasks that ended there in the last hour`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case past != 0 && !tasks:
				return usagef("--past needs --tasks")
			case past < 0 || past > 7*24*time.Hour:
				return usagef("--past: must be at most 168h")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(func(client *api.Client) error {
				t := nodeTables{a, &l}
				return a.repeat(c.Context(), &l, func() error {
					if tasks {
						return show(a, l.json, t.tasks)(client.Nodes.Tasks(c.Context(), args, past))
					}
					return show(a, l.json, t.nodes)(nodesNamed(c.Context(), client, args))
				})
			})
		},
	}
	l.flags(c)
	c.Flags().DurationVar(&past, "past", 0, "with --tasks: also list tasks that ended within this duration (the last 64 of each node since the server started)")
	c.Flags().BoolVar(&tasks, "tasks", false,
		"list the tasks of these nodes, or of all nodes, and when each ends at the latest")
	c.AddCommand(nodesPermitCommand(a), nodesPermitsCommand(a), nodesRevokeCommand(a))
	return c
}

// nodesNamed returns the nodes of these names, or all if there are no names.
func nodesNamed(ctx context.Context, client *api.Client, names []string) (*api.Nodes, error) {
	all, err := client.Nodes.List(ctx)
	if err != nil || len(names) == 0 {
		return all, err
	}
	wanted := map[string]bool{}
	for _, name := range names {
		if !slices.ContainsFunc(all.Nodes, func(n views.NodeView) bool { return n.Name == name }) {
			return nil, fmt.Errorf("there is no node %.80q; see fairlead nodes", name)
		}
		wanted[name] = true
	}
	all.Nodes = slices.DeleteFunc(all.Nodes, func(n views.NodeView) bool { return !wanted[n.Name] })
	return all, nil
}

// nodeTables prints nodes, or the tasks on them.
type nodeTables struct {
	*app
	listing *listing
}

func (x nodeTables) tasks(doc *api.NodeTasks) error {
	t := table.New(table.Column{Name: "NODE"}, table.Column{Name: "JOB", Right: true},
		table.Column{Name: "TASK", Right: true, Spare: 1}, table.Column{Name: "USER"}, table.Column{Name: "POOL", Least: 10},
		table.Column{Name: words.Unit(doc.Unit), Right: true}, table.Column{Name: "STARTED", Whole: true},
		table.Column{Name: "ENDS BY", Whole: true}, table.Column{Name: "NOTE", Wraps: true})
	for i := range doc.Tasks {
		k := &doc.Tasks[i]
		ends := "-"
		note := k.Stop
		switch {
		case k.Ended != nil:
			ends, note = clock(*k.Ended, doc.At), "ended"
		case k.Ends != nil:
			ends = clock(*k.Ends, doc.At)
		case k.Queued && note == "":
			note = "queued behind it"
		}
		t.Row(k.Node, k.Job, numberOf(k), k.User, words.Pool(k.Pool), k.Units, clock(k.Started, doc.At), ends,
			dash(plain.Line(note)))
	}
	return x.print(x.listing, t)
}

// numberOf writes the number of a task, as counted in its job.
func numberOf(t *recorder.NodeTask) string {
	if t.Number == nil {
		return "-"
	}
	return strconv.Itoa(*t.Number)
}

func (x nodeTables) nodes(doc *api.Nodes) error {
	number := func(name string, spare int) table.Column { return table.Column{Name: name, Right: true, Spare: spare} }
	t := table.New(table.Column{Name: "NODE"}, table.Column{Name: "STATE"}, number(words.Unit(doc.Unit), 0),
		number("MEM", 1), number("GPU", 1), number("TASKS", 3), table.Column{Name: "LABELS", Spare: 8},
		table.Column{Name: "AGENT", Spare: 9}, number("LAST SEEN", 5), table.Column{Name: "REASON", Wraps: true})
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		seen := "-"
		if !n.Seen.IsZero() {
			seen = span(doc.At.Sub(n.Seen))
		}
		t.Row(n.Name, n.State, words.Used(n, doc.Unit), words.Used(n, "mem"), words.GPUs(n), n.Tasks, dash(words.Labels(n)), dash(n.Version), seen, words.WhyNotMore(n, doc.Unit, doc.At))
	}
	return x.print(x.listing, t)
}

func drainCommand(a *app) *cobra.Command {
	var reason string
	var maint, forget bool
	c := &cobra.Command{
		Use:   "drain NODE...",
		Short: "Drain a node: no new task starts there, running ones continue",
		Long: `Drain a node: no new task starts there, running ones continue. --maint drains it and shows its
state as maintenance. Both last until fairlead resume.

--forget removes a node that will not come back. The server drops all that it remembers about the node:
that it is drained and, if the node is a bridge, the record of its submitted jobs. The node must be
down and have no tasks.`,
		Example: "  fairlead drain n5 --reason 'fan is broken'\n  fairlead drain n5 n6 --maint --reason 'new switch, until noon'\n  fairlead drain --forget oldbridge",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if forget && (maint || reason != "") {
				return usagef("--forget cannot be combined with --maint or --reason")
			} else if forget {
				return setDrained(c.Context(), a, args, api.DrainRequest{Forget: true}, "removed %s")
			}
			return setDrained(c.Context(), a, args, api.DrainRequest{Drain: true, Maintenance: maint, Reason: reason}, "draining %s")
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "reason to show")
	c.Flags().BoolVar(&maint, "maint", false, "the node is in maintenance")
	c.Flags().BoolVar(&forget, "forget", false, "remove nodes that will not come back")
	return c
}

func setDrained(ctx context.Context, a *app, nodes []string, r api.DrainRequest, said string) error {
	if slices.Contains(nodes, "") {
		return usagef("the name of a node is empty; see: fairlead nodes")
	}
	return a.with(func(client *api.Client) error {
		for _, n := range nodes {
			if err := drain(ctx, a.out, client, n, r, said); err != nil {
				return err
			}
		}
		return nil
	})
}

func drain(ctx context.Context, out io.Writer, client *api.Client, node string, r api.DrainRequest, said string) error {
	now, err := client.Nodes.Drain(ctx, node, r)
	if err != nil {
		return err
	}
	if now.State == "down" && !r.Drain && !r.Forget {
		said = "%s is not drained, but down: it takes tasks when its agent is back (fairlead work)"
	}
	fmt.Fprintf(out, said, node)
	if undo := drainedBefore(node, r, now.Before); undo != "" {
		fmt.Fprintf(out, "    (undo: %s)", undo)
	}
	fmt.Fprintln(out)
	if n := now.Stranded; n > 0 {
		fmt.Fprintf(out, "  %s can run on no other node that takes tasks\n", units.Plural(n, "waiting job"))
	}
	if r.Drain {
		return stillThere(ctx, out, client, node)
	}
	return nil
}

// drainedBefore returns the command that undoes a change of a node's drain: it restores the drain before the change.
// It is empty if there is nothing to undo.
func drainedBefore(node string, r api.DrainRequest, before *engine.Drain) string {
	switch node = words.ShellQuoted(node); {
	case r.Forget || before == nil && !r.Drain:
		return ""
	case before == nil:
		return "fairlead resume " + node
	}
	undo := "fairlead drain " + node
	if before.Maintenance {
		undo += " --maint"
	}
	return undo + words.ReasonFlag(before.Reason)
}

// stillThere names the users whose tasks continue on a drained node, and the latest end of these
// tasks.
func stillThere(ctx context.Context, out io.Writer, client *api.Client, node string) error {
	doc, err := client.Nodes.Tasks(ctx, []string{node}, 0)
	if err != nil || len(doc.Tasks) == 0 {
		return err
	}
	left := recorder.RemainingOf(doc.Tasks)
	until := "until " + clock(left.Last, doc.At) + " at the latest"
	if left.Endless > 0 {
		until = "without a time limit"
		if left.Endless < len(doc.Tasks) {
			until = fmt.Sprintf("%d of them without a time limit", left.Endless)
		}
	}
	fmt.Fprintf(out, "  %s of %s %s there, %s; see: fairlead nodes --tasks %s\n", units.Plural(len(doc.Tasks), "task"),
		plain.Line(strings.Join(left.Users, ", ")), units.OneOf(len(doc.Tasks), "continues", "continue"), until, node)
	return nil
}
