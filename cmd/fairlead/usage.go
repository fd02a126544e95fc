package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

func usageCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "usage",
		Short: "Set or reset the usage of pools",
		Long: `Set or reset the usage of pools, for administrators: to carry over the usage of another
system, or to begin a new period. Policies that compare usage use the new value from the next step
on, and the record of changes lists it. Running tasks continue, and add to the usage as before.`,
		Example: `  fairlead usage set physics/ann 120h
  fairlead usage reset physics`,
	}
	var asJSON bool
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	set := func(ctx context.Context, pool string, seconds float64) error {
		return a.with(func(client *api.Client) error {
			r := api.UsageRequest{Pool: pool, UsedSeconds: seconds}
			return show(a, asJSON, a.usageSet)(client.Pools.SetUsage(ctx, r))
		})
	}
	c.AddCommand(&cobra.Command{
		Use:   "set POOL TIME",
		Short: "Set the usage of a pool: 120h is 120 hours of one slot",
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
		Short: "Reset the usage of a pool and all pools below it",
		Args:  cobra.ExactArgs(1),
		RunE:  func(c *cobra.Command, args []string) error { return set(c.Context(), args[0], 0) },
	})
	return c
}

// usageSet prints the changes of usage, and how to undo them.
func (a *app) usageSet(out *api.UsageResponse) error {
	for _, p := range out.Pools {
		fmt.Fprintf(a.out, "%s: used %s -> %s %s-hours\n", words.Pool(p.Pool), why.Short(p.Old/3600),
			why.Short(p.New/3600), out.Unit)
	}
	for _, p := range out.Pools {
		if p.Old > 0 {
			fmt.Fprintf(a.out, "undo: fairlead usage set %s %.0fs\n", words.ShellPool(p.Pool), p.Old)
		}
	}
	return nil
}
