package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/why"
)

func (a *app) usageCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "usage",
		Short: "Set or forget what pools have received",
		Long: `Set or forget what pools have received, for administrators: to carry over the use of
another system, or to begin a new period. It counts in the comparisons of the policies that
look at past use, from the next step on, and is kept in the record of changes. What runs is
not touched, and counts as always.`,
		Example: `  fairlead usage set physics/ann 120h
  fairlead usage reset physics`,
	}
	var asJSON bool
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	set := func(ctx context.Context, pool string, seconds float64) error {
		return a.with(func(client *api.Client) error {
			out, err := client.SetUsage(ctx, api.UsageRequest{Pool: pool, UsedSeconds: seconds})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(out)
			}
			for _, p := range out.Pools {
				fmt.Fprintf(a.out, "%s: used %s -> %s %s-hours\n", p.Pool, why.Short(p.Old/3600), why.Short(p.New/3600), out.Unit)
			}
			for _, p := range out.Pools {
				if p.Old > 0 {
					fmt.Fprintf(a.out, "undo: fairlead usage set %s %.0fs\n", p.Pool, p.Old)
				}
			}
			return nil
		})
	}
	c.AddCommand(&cobra.Command{
		Use:   "set POOL TIME",
		Short: "Set what a pool has received: 120h is 120 hours of one slot",
		Args:  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := units.ParseDuration(args[1])
			if err != nil {
				return usagef("%w", err)
			}
			return set(c.Context(), args[0], d.Seconds())
		},
	}, &cobra.Command{
		Use:   "reset POOL",
		Short: "Forget what a pool, and all below it, have received",
		Args:  cobra.ExactArgs(1),
		RunE:  func(c *cobra.Command, args []string) error { return set(c.Context(), args[0], 0) },
	})
	return c
}
