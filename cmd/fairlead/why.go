package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

type whyCmd struct {
	*app
	vs, whatIf            string
	history, verify, json bool
	noEstimate            bool
	all                   bool
}

func whyCommand(a *app) *cobra.Command {
	w := &whyCmd{app: a}
	c := &cobra.Command{
		Use:   "why (JOB | POOL | USER | node NODE)",
		Short: "Explain why a job waits or a pool gets its share, with the numbers",
		Long: `Explain the state of a job: the reason that decides, the numbers that were compared and their
formula, the jobs that go before it, and the restrictions that apply.

While a job waits, the answer estimates when it will start, and shows what would make that
sooner. --what-if forecasts the start with other requests, and changes nothing. It takes names
and values, separated by commas. The names are flags of submit: time (t), cpus (c), mem, gpus
(G), request, pool (A), constraint (C), licenses (L), priority, qos and nice.

--verify recomputes the printed numbers in this program, without the scheduler: every key from
its terms by the formula, the order from the keys, and the job's rank by replaying the starts
before it.`,
		Example: `  fairlead why 1042
  fairlead why 1042 --vs 1044        which of the two goes first, and why
  fairlead why 1042 --vs physics     the same with a pool or a user
  fairlead why 1042 --what-if "t=1h15m,cpus=8"
  fairlead why 1042 --history        what it has waited for since its submission
  fairlead why 1042 --verify
  fairlead why physics/markov`,
		Args: cobra.RangeArgs(1, 2),
		RunE: w.run,
	}
	f := c.Flags()
	f.StringVar(&w.vs, "vs", "", "compare with another job, a pool or a user")
	f.StringVar(&w.whatIf, "what-if", "", "forecast for the job with other requests, e.g. \"t=1h15m,cpus=8\"")
	f.BoolVar(&w.history, "history", false, "show the history of the job and its waits")
	f.BoolVar(&w.verify, "verify", false, "recompute the answer from the printed numbers")
	f.BoolVar(&w.noEstimate, "no-estimate", false, "do not estimate the start")
	f.BoolVar(&w.all, "all", false, "list all pools of each level, not only the first ten")
	f.BoolVar(&w.json, "json", false, "print JSON")
	return c
}

func (w *whyCmd) run(c *cobra.Command, args []string) error {
	ctx := c.Context()
	if slices.Contains(args, "") {
		return usagef("the name is empty; expected a job, pool, user or node")
	}
	return w.with(func(client *api.Client) error {
		if args[0] == "node" {
			if len(args) != 2 {
				return usagef("the name of the node is missing: fairlead why node NODE")
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
			return show(w.app, w.json, w.versus)(client.Jobs.Versus(ctx, id, w.vs))
		case w.history:
			return show(w.app, w.json, func(h *api.History) error { return printEvents(w.out, h.Events) })(
				client.Jobs.History(ctx, id, -1))
		case c.Flags().Changed("what-if"):
			return w.whatIfOf(ctx, client, id)
		}
		return w.job(ctx, client, id)
	})
}

func (w *whyCmd) job(ctx context.Context, client *api.Client, id int64) error {
	a, err := client.Jobs.Why(ctx, id, w.options())
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

// options selects the parts of the answer to print. --verify recomputes numbers, and prints an estimate only
// as JSON.
func (w *whyCmd) options() explain.WhyOptions {
	o := explain.WhyOptions{Siblings: 10, Evidence: w.verify, Estimate: !w.noEstimate && (!w.verify || w.json)}
	if w.all {
		o.Siblings = 0
	}
	return o
}

// verified recomputes an answer and prints the results.
func (w *whyCmd) verified(a *why.Answer) error {
	checks := append(replay.Verify(a, policy.Rule), verifyBridged(a.Bridged)...)
	ok := why.Verified(checks)
	if w.json {
		if err := w.printJSON(map[string]any{"version": why.Version, "job": a.Subject.Job, "verified": ok, "checks": checks, "answer": a}); err != nil {
			return err
		}
	} else {
		t := table.New(table.Column{Name: "CHECK"}, table.Column{Name: "RESULT"}, table.Column{Name: "DETAIL", Wraps: true})
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
		return usagef("--vs, --what-if, --history and --verify need a job; %q is not a job", name)
	}
	return show(w.app, w.json, func(a *why.Answer) error { return w.say(a, a.Text) })(client.Pools.Why(ctx, name))
}

// say prints the text of an answer.
func (w *whyCmd) say(answer any, text func() string) error {
	plain.Lines(answer)
	fmt.Fprint(w.out, text())
	return nil
}

func (w *whyCmd) versus(v *api.Versus) error {
	return w.say(v, func() string { return v.Comparison.Text(v.Units) })
}

func printEvents(out io.Writer, events []api.Event) error {
	t := table.New(table.Column{Name: "WHEN"}, table.Column{Name: "WHAT"}, table.Column{Name: "DETAIL"})
	for _, e := range events {
		t.Row(e.At.Local().Format("2006-01-02 15:04:05"), e.Code, instant.ByClock(plain.Line(e.Text), time.Now()))
	}
	return t.Print(out)
}

// node prints why a node does not run more.
func (w *whyCmd) node(ctx context.Context, client *api.Client, name string) error {
	nodes, err := client.Nodes.List(ctx)
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
	return usagef("there is no node %q; see fairlead nodes", name)
}

// whatIfOf prints the forecast for the job with other requests.
func (w *whyCmd) whatIfOf(ctx context.Context, client *api.Client, id int64) error {
	v, err := parseWhatIf(w.whatIf)
	if err != nil {
		return err
	}
	return show(w.app, w.json, func(r *why.WhatIf) error { return w.say(r, r.Text) })(client.Jobs.WhatIf(ctx, id, v))
}

func explainCommand(a *app) *cobra.Command {
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
			t := table.New(table.Column{Name: "CODE"}, table.Column{Name: "MEANING", Wraps: true},
				table.Column{Name: "NEXT STEP", Wraps: true})
			for _, e := range codes {
				t.Row(e.Code, e.Meaning, dash(e.Next))
			}
			return t.Print(a.out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
