package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
)

// dashboardCommand prints an address that opens the dashboard as the user of the command.
func (a *app) dashboardCommand() *cobra.Command {
	var signOut bool
	c := &cobra.Command{
		Use:   "dashboard",
		Short: "Print an address that opens the dashboard as yourself",
		Long: `Print an address for a browser. The server knows you by its socket, and puts a code into the
address, which works once and for one minute. The browser that opens it has a session as you:
for 12 hours, until nothing was asked for 2 hours, or until the server ends. Do not pass the
address on. This command starts no browser, as all users of a machine can read the arguments
of its programs.

The server has to listen on an address: serve --listen 127.0.0.1:7447, or server.listen in its
configuration. From another machine, forward that port, or the socket itself:
ssh -L 7447:/run/fairlead/fairlead.sock HOST`,
		Example: "  fairlead dashboard\n  fairlead dashboard --sign-out",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				if signOut {
					return a.signOut(c.Context(), client)
				}
				r, err := client.SignIn(c.Context())
				if err != nil {
					return err
				}
				fmt.Fprintln(a.out, r.Address)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&signOut, "sign-out", false, "end all your sessions in browsers")
	return c
}

func (a *app) signOut(ctx context.Context, client *api.Client) error {
	r, err := client.SignOut(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "ended %s\n", count(r.Ended, "session", "sessions"))
	return nil
}
