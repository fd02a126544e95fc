package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

type pause struct {
	*app
	listing
	lasts, reason string
	list          bool
}

func (a *app) pauseCommand() *cobra.Command {
	s := &pause{app: a}
	c := &cobra.Command{
		Use:   "pause POOL [--for TIME] [--reason TEXT]",
		Short: "Let a pool start nothing new; what runs goes on",
		Long: `Let a pool, and those below it, start nothing new. What runs goes on, what waits keeps its
place, and jobs may be submitted. It lasts for a time, or until fairlead resume, and holds
over a restart. POOL is the path of a pool, or a user whose pool is meant. To pause it
again changes until when, and why.

Others get meanwhile what the pool leaves. It is owed nothing for the time. What waits in
another queueing system already may start there. While a pause lasts, shares and why show
it.`,
		Example: `  fairlead pause physics --for 2h --reason 'the file server is being moved'
  fairlead pause ann --reason 'her jobs fill the disk: she is asked'
  fairlead pause --list
  fairlead resume physics`,
		RunE: func(c *cobra.Command, args []string) error {
			return s.with(func(client *api.Client) error { return s.run(c, client, args) })
		},
	}
	f := c.Flags()
	f.StringVar(&s.lasts, "for", "", "how long it lasts: 6h, 2d, 90m (default: until it is resumed)")
	f.StringVar(&s.reason, "reason", "", "why, for those who ask")
	f.BoolVar(&s.list, "list", false, "list the pauses in force")
	s.listing.flags(c)
	return c
}

func (s *pause) run(c *cobra.Command, client *api.Client, args []string) error {
	ctx := c.Context()
	switch {
	case s.list && (len(args) > 0 || s.lasts != "" || s.reason != ""):
		return usagef("--list goes alone")
	case s.list:
		return s.repeat(ctx, &s.listing, func() error { return s.show(ctx, client) })
	case len(args) != 1:
		return usagef("expected a pool: fairlead pause physics --for 2h")
	}
	r := api.PauseRequest{Pool: args[0], Reason: s.reason}
	if s.lasts != "" {
		d, err := units.ParseDuration(s.lasts)
		if err == nil && d <= 0 {
			err = fmt.Errorf("must be more than 0")
		}
		if err != nil {
			return usagef("--for: %w", err)
		}
		r.ForSeconds = d.Seconds()
	}
	out, err := client.Pause(ctx, r)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(out)
	}
	fmt.Fprintf(s.out, "%s is paused %s\n%s\nundo: fairlead resume %[1]s\n", out.Pause.Pool, pauseEnds(&out.Pause, time.Now()), words.Paused(out))
	return nil
}

// pauseEnds says until when a pause lasts.
func pauseEnds(p *fairlead.Pause, now time.Time) string {
	if p.Until.IsZero() {
		return "until it is resumed"
	}
	return fmt.Sprintf("until %s (in %s)", why.Clock(p.Until, now), why.Duration(p.Until.Sub(now).Round(time.Second)))
}

func (s *pause) show(ctx context.Context, client *api.Client) error {
	doc, err := client.Pauses(ctx)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(doc)
	}
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "BEGAN"}, table.Column{Name: "UNTIL"}, table.Column{Name: "BY"}, table.Column{Name: "REASON"})
	for i := range doc.Pauses {
		p := &doc.Pauses[i]
		until := "resumed"
		if !p.Until.IsZero() {
			until = why.Clock(p.Until, doc.At)
		}
		t.Row(p.Pool, why.Clock(p.Began, doc.At), until, dash(p.By), dash(p.Reason))
	}
	return s.print(&s.listing, t)
}

func (a *app) resumeCommand() *cobra.Command {
	var pool, node bool
	c := &cobra.Command{
		Use:   "resume NODE|POOL...",
		Short: "Let a drained node take tasks again, or a paused pool start them",
		Long: `Let a drained node take tasks again. One that is down stays down until its agent is heard of:
nothing is started on a machine that is not there.

Let a paused pool start again what waits in it. Where a node is called like a paused pool,
say which is meant by --node or --pool.`,
		Example: "  fairlead resume n5 n6\n  fairlead resume physics",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if pool && node {
				return usagef("--node and --pool do not go together")
			}
			return a.with(func(client *api.Client) error {
				for _, name := range args {
					if err := a.resume(c.Context(), client, name, pool, node); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&node, "node", false, "nodes are meant")
	c.Flags().BoolVar(&pool, "pool", false, "pools are meant")
	return c
}

// resume resumes what a name names: a node, or a pool that is paused.
func (a *app) resume(ctx context.Context, client *api.Client, name string, pool, node bool) error {
	surely := pool || node
	if !surely {
		var err error
		if pool, err = paused(ctx, client, name); err != nil {
			return err
		}
	}
	if !pool {
		err := a.drain(ctx, client, name, api.DrainRequest{}, "%[1]s takes tasks again    (undo: fairlead drain %[1]s)\n")
		if surely || !errors.Is(err, fairlead.ErrNotFound) {
			return err
		}
	}
	out, err := client.Resume(ctx, name)
	if !pool && errors.Is(err, fairlead.ErrNotFound) {
		return fmt.Errorf("%w; nor is it a node: see fairlead nodes", err)
	} else if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s starts again what waits in it: %s    (undo: %s)\n", out.Pause.Pool, words.Tasks(out.Waiting-int64(out.Queued)), words.PauseAgain(out.Pause, time.Now()))
	return nil
}

// paused reports whether a name is that of a pool that is paused, and not of a node.
func paused(ctx context.Context, client *api.Client, name string) (bool, error) {
	nodes, err := client.Nodes(ctx)
	if err != nil {
		return false, err
	}
	pauses, err := client.Pauses(ctx)
	if err != nil {
		return false, err
	}
	node := slices.ContainsFunc(nodes.Nodes, func(n fairlead.NodeView) bool { return n.Name == name })
	pool := slices.ContainsFunc(pauses.Pauses, func(p fairlead.Pause) bool { return p.Pool == name })
	if node && pool {
		return false, usagef("%s is a node, and a pool that is paused: say --node or --pool", name)
	}
	return pool, nil
}
