package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
)

// dashboardCommand prints an address that opens the dashboard as the calling user.
func dashboardCommand(a *app) *cobra.Command {
	var signOut, admin bool
	c := &cobra.Command{
		Use:   "dashboard",
		Short: "Print an address that signs you in to the dashboard",
		Long: `Print an address for a browser. The server identifies you by your connection to its socket, and
the address holds a code that works once, within one minute. The browser that opens it gets a
session as you. The session ends after 12 hours, after 2 hours without a request, or when the server ends.
Do not pass the address on. This command does not open a browser, because all users of a machine can read
the arguments of its programs.

The session of an administrator is read-only: a browser sends its session to every port of the
machine, and another user can listen on a port. With --admin the session can
make changes for 15 minutes.

The server has to listen on an address: serve --listen 127.0.0.1:7447, or server.listen in its
configuration. From another machine, forward that port or the socket:
ssh -L 7447:/run/fairlead/fairlead.sock HOST`,
		Example: "  fairlead dashboard\n  fairlead dashboard --admin\n  fairlead dashboard --sign-out",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				if signOut {
					return endSessions(c.Context(), a.out, client)
				}
				r, err := client.SignIn(c.Context(), api.SignInRequest{Admin: admin})
				if err != nil {
					return err
				}
				fmt.Fprintln(a.out, r.Address)
				if r.OnlyLooks {
					fmt.Fprintln(a.errs, "this session is read-only; to make changes, use: fairlead dashboard --admin")
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&signOut, "sign-out", false, "end all your browser sessions")
	c.Flags().BoolVar(&admin, "admin", false, "let the session of an administrator make changes, for 15 minutes")
	return c
}

func endSessions(ctx context.Context, out io.Writer, client *api.Client) error {
	r, err := client.SignOut(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ended %s\n", count(r.Ended, "session", "sessions"))
	return nil
}
