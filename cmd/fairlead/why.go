package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

type whyCmd struct {
	*app
	vs, whatIf            string
	history, verify, json bool
	noEstimate            bool
	all                   bool
}

func (a *app) whyCommand() *cobra.Command {
	w := &whyCmd{app: a}
	c := &cobra.Command{
		Use:   "why (JOB | POOL | USER | node NODE)",
		Short: "Say why a job waits, or a pool gets what it gets, with the numbers",
		Long: `Say why a job is where it is: the one reason that decides, the numbers that were
compared, by which formula, who goes before it, and which restrictions hold.

While a job waits, the answer says when it will start, and what would make that sooner
(CHANGE). With --what-if the scheduler is asked what would become of the job if it asked
for something else: words with values, separated by commas, that are called as the flags
of submit: time (t), cpus (c), mem, gpus (G), request, pool (A), constraint (C), licenses
(L), priority, qos and nice. Nothing is changed.

With --verify the numbers that were printed are recomputed here, without the scheduler:
every key from its terms by the formula, the order from the keys, and the job's place by
replaying the starts before it.`,
		Example: `  fairlead why 1042
  fairlead why 1042 --vs 1044        who of the two goes first, by which number
  fairlead why 1042 --vs physics     the same with a pool or a user
  fairlead why 1042 --what-if "t=1h15m,cpus=8"
  fairlead why 1042 --history        for what it has waited all the time
  fairlead why 1042 --verify
  fairlead why physics/markov`,
		Args: cobra.RangeArgs(1, 2),
		RunE: w.run,
	}
	f := c.Flags()
	f.StringVar(&w.vs, "vs", "", "compare with another job, a pool or a user")
	f.StringVar(&w.whatIf, "what-if", "", "what would become of the job if it asked for something else, e.g. \"t=1h15m,cpus=8\"")
	f.BoolVar(&w.history, "history", false, "what happened to the job, and for what it waited")
	f.BoolVar(&w.verify, "verify", false, "recompute the answer from what it prints")
	f.BoolVar(&w.noEstimate, "no-estimate", false, "do not look for when it will start")
	f.BoolVar(&w.all, "all", false, "list all pools at each level, not only the first ten")
	f.BoolVar(&w.json, "json", false, "print JSON")
	return c
}

func (w *whyCmd) run(c *cobra.Command, args []string) error {
	ctx := c.Context()
	return w.with(func(client *api.Client) error {
		if args[0] == "node" {
			if len(args) != 2 {
				return usagef("which node? fairlead why node NODE")
			}
			return w.node(ctx, client, args[1])
		}
		if len(args) == 2 {
			return usagef("one job, pool or user at a time; compare two with: fairlead why %s --vs %s", args[0], args[1])
		}
		id, _, err := jobID(args[0])
		if err != nil {
			return w.pool(ctx, client, args[0])
		}
		switch {
		case w.vs != "":
			return w.versus(ctx, client, id)
		case w.history:
			return w.historyOf(ctx, client, id)
		case c.Flags().Changed("what-if"):
			return w.whatIfOf(ctx, client, id)
		}
		return w.job(ctx, client, id)
	})
}

func (w *whyCmd) job(ctx context.Context, client *api.Client, id int64) error {
	siblings := 10
	if w.all {
		siblings = 0
	}
	a, err := client.Why(ctx, id, fairlead.WhyOptions{Siblings: siblings, Evidence: w.verify, Estimate: !w.noEstimate})
	if err != nil {
		return err
	}
	if !w.verify {
		if w.json {
			return w.printJSON(a)
		}
		plain.Lines(a)
		fmt.Fprint(w.out, a.Text())
		if a.Verdict != why.Ended && len(a.Levels) > 0 {
			fmt.Fprintf(w.out, "  fairlead why %d --vs POOL · --what-if \"t=1h15m\" · --history · --verify · --json\n", id)
		}
		return nil
	}
	return w.verified(a)
}

// verified recomputes an answer and prints what came out.
func (w *whyCmd) verified(a *why.Answer) error {
	checks := append(why.Verify(a), verifyBridged(a.Bridged)...)
	ok := why.Verified(checks)
	if w.json {
		if err := w.printJSON(map[string]any{"version": why.Version, "job": a.Subject.Job, "verified": ok, "checks": checks, "answer": a}); err != nil {
			return err
		}
	} else {
		t := table.New(table.Column{Name: "CHECK"}, table.Column{Name: "RESULT"}, table.Column{Name: "DETAIL"})
		for _, c := range checks {
			result := "ok"
			switch {
			case !c.OK:
				result = "WRONG"
			case strings.HasPrefix(c.Text, "not recomputed"):
				result = "-"
			}
			t.Row(c.What, result, c.Text)
		}
		if len(checks) == 0 {
			fmt.Fprintf(w.out, "job %d is %s: there is nothing to recompute\n", a.Subject.Job, a.Subject.State)
		} else if err := t.Print(w.out); err != nil {
			return err
		}
	}
	if !ok {
		return exit(api.ExitRefused)
	}
	return nil
}

func (w *whyCmd) pool(ctx context.Context, client *api.Client, name string) error {
	if w.vs != "" || w.history || w.verify || w.whatIf != "" {
		return usagef("--vs, --what-if, --history and --verify are about a job; %q is not one", name)
	}
	a, err := client.WhyPool(ctx, name)
	if err != nil {
		return err
	}
	if w.json {
		return w.printJSON(a)
	}
	plain.Lines(a)
	fmt.Fprint(w.out, a.Text())
	return nil
}

func (w *whyCmd) versus(ctx context.Context, client *api.Client, id int64) error {
	v, err := client.Versus(ctx, id, w.vs)
	if err != nil {
		return err
	}
	if w.json {
		return w.printJSON(v)
	}
	plain.Lines(v)
	fmt.Fprint(w.out, v.Comparison.Text(v.Units))
	return nil
}

func (w *whyCmd) historyOf(ctx context.Context, client *api.Client, id int64) error {
	h, err := client.History(ctx, id)
	if err != nil {
		return err
	}
	if w.json {
		return w.printJSON(h)
	}
	return w.app.printEvents(h.Events)
}

func (a *app) printEvents(events []api.Event) error {
	t := table.New(table.Column{Name: "WHEN"}, table.Column{Name: "WHAT"}, table.Column{Name: "DETAIL"})
	for _, e := range events {
		t.Row(e.At.Local().Format("2006-01-02 15:04:05"), e.Code, plain.Line(e.Text))
	}
	return t.Print(a.out)
}

// node says why a node does not run more.
func (w *whyCmd) node(ctx context.Context, client *api.Client, name string) error {
	nodes, err := client.Nodes(ctx)
	if err != nil {
		return err
	}
	for i := range nodes.Nodes {
		if nodes.Nodes[i].Name == name {
			if w.json {
				return w.printJSON(nodes.Nodes[i])
			}
			plain.Lines(&nodes.Nodes[i])
			fmt.Fprintf(w.out, "%s: %s\n", plain.Line(name), words.WhyNotMore(&nodes.Nodes[i], nodes.Unit, nodes.At))
			return nil
		}
	}
	return usagef("there is no node %q; see: fairlead nodes", name)
}

func (a *app) explainCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "explain [CODE]",
		Short:   "Explain a reason code, or list them all",
		Example: "  fairlead explain share.behind",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var codes []string
			for _, e := range why.Codes() {
				codes = append(codes, string(e.Code))
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			codes := why.Codes()
			if len(args) == 1 {
				e, ok := why.Explain(why.Code(args[0]))
				if !ok {
					return usagef("there is no code %q; list them with: fairlead explain", args[0])
				}
				codes = []why.Explanation{e}
			}
			if asJSON {
				return a.printJSON(codes)
			}
			t := table.New(table.Column{Name: "CODE"}, table.Column{Name: "MEANING"}, table.Column{Name: "NEXT STEP"})
			for _, e := range codes {
				t.Row(e.Code, e.Meaning, dash(e.Next))
			}
			return t.Print(a.out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
