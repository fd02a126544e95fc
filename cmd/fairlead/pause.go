package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

type pause struct {
	*app
	listing
	lasts, reason string
	list          bool
}

func pauseCommand(a *app) *cobra.Command {
	s := &pause{app: a}
	c := &cobra.Command{
		Use:   "pause POOL [--for TIME] [--reason TEXT]",
		Short: "Pause a pool: no new task starts, running ones continue",
		Long: `Pause a pool and the pools below it: they start no new tasks. Running tasks continue, waiting
ones keep their place, and jobs can be submitted. A pause lasts for a time or until fairlead
resume, and survives a restart. POOL is the path of a pool, or a user for the user's pool.
A second pause changes the end and the reason.

Other pools get the share of the paused pool, and the paused pool is not compensated for this
later. Tasks that already wait in another queueing system may start there. While a pause lasts,
shares and why show it.`,
		Example: `  fairlead pause physics --for 2h --reason 'the file server is being moved'
  fairlead pause ann --reason 'her jobs fill the disk; I have written to her'
  fairlead pause --list
  fairlead resume physics`,
		RunE: func(c *cobra.Command, args []string) error {
			return s.with(func(client *api.Client) error { return s.run(c, client, args) })
		},
	}
	f := c.Flags()
	f.StringVar(&s.lasts, "for", "", "duration: 6h, 2d, 90m (default: until it is resumed)")
	f.StringVar(&s.reason, "reason", "", "reason to show")
	f.BoolVar(&s.list, "list", false, "list the current pauses")
	s.listing.flags(c)
	return c
}

func (s *pause) run(c *cobra.Command, client *api.Client, args []string) error {
	ctx := c.Context()
	switch {
	case s.list && (len(args) > 0 || s.lasts != "" || s.reason != ""):
		return usagef("--list takes no pool and no other flag")
	case s.list:
		return s.repeat(ctx, &s.listing, func() error { return show(s.app, s.json, s.table)(client.Pools.Pauses(ctx)) })
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
	return show(s.app, s.json, s.begun)(client.Pools.Pause(ctx, r))
}

func (s *pause) begun(out *api.PauseResponse) error {
	now := time.Now()
	undo := "fairlead resume " + words.ShellPool(out.Pause.Pool)
	if out.Before != nil {
		undo = words.PauseAgain(*out.Before, now)
	}
	fmt.Fprintf(s.out, "%s is paused %s\n%s\nundo: %s\n", words.Pool(out.Pause.Pool), pauseEnds(&out.Pause, now),
		words.Paused(out), undo)
	return nil
}

// pauseEnds writes when a pause ends.
func pauseEnds(p *engine.Pause, now time.Time) string {
	if p.Until.IsZero() {
		return "until it is resumed"
	}
	return fmt.Sprintf("until %s (in %s)", instant.Clock(p.Until, now), why.Duration(p.Until.Sub(now).Round(time.Second)))
}

func (s *pause) table(doc *api.Pauses) error {
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "BEGAN"}, table.Column{Name: "UNTIL"}, table.Column{Name: "BY"}, table.Column{Name: "REASON"})
	for i := range doc.Pauses {
		p := &doc.Pauses[i]
		until := "resumed"
		if !p.Until.IsZero() {
			until = instant.Clock(p.Until, doc.At)
		}
		t.Row(words.Pool(p.Pool), instant.Clock(p.Began, doc.At), until, dash(p.By), dash(p.Reason))
	}
	return s.print(&s.listing, t)
}

func resumeCommand(a *app) *cobra.Command {
	var pool, node bool
	c := &cobra.Command{
		Use:   "resume NODE|POOL...",
		Short: "Resume a drained node or a paused pool",
		Long: `Resume a drained node: it takes tasks again. A node that is down stays down until its agent
connects.

Resume a paused pool: its waiting tasks can start again. If a node and a paused pool have the
same name, add --node or --pool.`,
		Example: "  fairlead resume n5 n6\n  fairlead resume physics",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if pool && node {
				return usagef("--node and --pool cannot be combined")
			}
			if slices.Contains(args, "") {
				return usagef("the name is empty; expected a node or a pool")
			}
			return a.with(func(client *api.Client) error {
				for _, name := range args {
					if err := resume(c.Context(), a, client, name, pool, node); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&node, "node", false, "the names are nodes")
	c.Flags().BoolVar(&pool, "pool", false, "the names are pools")
	return c
}

// resume resumes the node or the paused pool with this name.
func resume(ctx context.Context, a *app, client *api.Client, name string, pool, node bool) error {
	surely := pool || node
	if !surely {
		var err error
		if pool, err = paused(ctx, client, name); err != nil {
			return err
		}
	}
	if !pool {
		err := drain(ctx, a.out, client, name, api.DrainRequest{}, "%s takes tasks again")
		if surely || !errors.Is(err, queue.ErrNotFound) {
			return err
		}
	}
	out, err := client.Pools.Resume(ctx, name)
	if !pool && errors.Is(err, queue.ErrNotFound) {
		return fmt.Errorf("%w; no node has this name either: see fairlead nodes", err)
	} else if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s starts its waiting tasks again: %s    (undo: %s)\n", words.Pool(out.Pause.Pool), words.Tasks(out.Waiting-int64(out.Queued)), words.PauseAgain(out.Pause, time.Now()))
	return nil
}

// paused reports whether the name belongs to a paused pool. A node of the same name is an error.
func paused(ctx context.Context, client *api.Client, name string) (bool, error) {
	nodes, err := client.Nodes.List(ctx)
	if err != nil {
		return false, err
	}
	pauses, err := client.Pools.Pauses(ctx)
	if err != nil {
		return false, err
	}
	node := slices.ContainsFunc(nodes.Nodes, func(n views.NodeView) bool { return n.Name == name })
	pool := slices.ContainsFunc(pauses.Pauses, func(p engine.Pause) bool { return p.Pool == name })
	if node && pool {
		return false, usagef("%s is a node and also a paused pool: add --node or --pool", name)
	}
	return pool, nil
}
