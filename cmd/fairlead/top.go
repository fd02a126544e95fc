package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/top"
)

func topCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Watch shares, queue and nodes live",
		Long: `Watch shares and usage of pools, the queue in the order of starts, and the nodes, live.
Press Enter to open a pool or to see why a job waits; ? lists the keys.

It shows the same numbers as the commands shares, queue, nodes and why. It refreshes when the
server reports an event, and at least every two seconds; the server spends at most a tenth of its
time on that.
NO_COLOR turns colors off.`,
		Example: `  fairlead top
  NO_COLOR=1 fairlead top
  fairlead --server ./lab.sock top`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !a.interactive() {
				return usagef("top needs a terminal; without one, use fairlead shares and fairlead queue, with --json for programs")
			}
			if os.Getenv("TERM") == "dumb" {
				return usagef("top cannot draw on this terminal (TERM=dumb); use fairlead shares --watch")
			}
			return a.with(func(client *api.Client) error {
				// Report an unreachable server before top takes over the screen.
				if _, err := client.Pools.Shares(c.Context(), ""); err != nil {
					return err
				}
				return top.Run(c.Context(), client, a.in, plain.Raw(a.out))
			})
		},
	}
}
