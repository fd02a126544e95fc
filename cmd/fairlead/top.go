package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/top"
)

func (a *app) topCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Watch shares, queue and nodes live",
		Long: `Watch the pools with what they are entitled to and had, the queue in the order of starts,
and the nodes, live. Into a pool leads Enter, to why a job waits as well; ? lists the keys.

What it shows are the numbers of shares, queue, nodes and why. It looks when the server
tells that something happened, and at least every two seconds; a server spends no more than
a tenth of its time on it. Colours are left out with NO_COLOR, and where there are none.`,
		Example: `  fairlead top
  NO_COLOR=1 fairlead top
  fairlead --server ./lab.sock top`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !a.interactive() {
				return usagef("top draws on a terminal, and this is none; see fairlead shares and fairlead queue, with --json for programs")
			}
			if os.Getenv("TERM") == "dumb" {
				return usagef("the terminal cannot be drawn on (TERM=dumb); see fairlead shares --watch")
			}
			return a.with(func(client *api.Client) error {
				// Who cannot be reached is told before the screen is taken.
				if _, err := client.Shares(c.Context(), ""); err != nil {
					return err
				}
				return top.Run(c.Context(), client, a.in, plain.Raw(a.out))
			})
		},
	}
}
