package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong with the server and this machine",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			checks := a.diagnose(c.Context())
			if asJSON {
				if err := a.printJSON(map[string]any{"version": api.Version, "checks": checks}); err != nil {
					return err
				}
			} else if err := a.printChecks(checks); err != nil {
				return err
			}
			for _, x := range checks {
				if !x.OK {
					return exit(api.ExitRefused)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) printChecks(checks []api.HealthCheck) error {
	t := table.New(table.Column{Name: "CHECK"}, table.Column{Name: "RESULT"}, table.Column{Name: "DETAIL"})
	for _, x := range checks {
		result := "ok"
		if !x.OK {
			result = "BAD"
		}
		text := x.Text
		if x.Next != "" {
			text += "  ->  " + x.Next
		}
		t.Row(x.Name, result, text)
	}
	return t.Print(a.out)
}

// diagnose looks at the way to the server, at the server, and at this machine.
func (a *app) diagnose(ctx context.Context) []api.HealthCheck {
	checks := []api.HealthCheck{}
	client, err := a.client()
	if err != nil {
		return append(checks, api.HealthCheck{Name: "server", Text: err.Error(), Next: "see --server"})
	}
	defer client.Close()
	began := time.Now()
	st, err := client.Status(ctx)
	switch {
	case errors.Is(err, api.ErrUnreachable):
		checks = append(checks, api.HealthCheck{Name: "server", Text: err.Error(), Next: "fairlead serve --dev"})
	case err != nil:
		checks = append(checks, api.HealthCheck{Name: "server", Text: err.Error()})
	default:
		checks = append(checks, serverChecks(st, client.Address, time.Since(began))...)
	}
	return append(checks, machineChecks()...)
}

func serverChecks(st *api.ServerStatus, address string, took time.Duration) []api.HealthCheck {
	you := api.HealthCheck{Name: "identity", OK: st.You.UID >= 0, Text: fmt.Sprintf("you are %s, known by %s", st.You.User, st.You.By)}
	if st.You.Admin {
		you.Text += "; you may do everything"
	}
	if !you.OK {
		you.Text, you.Next = "the server cannot tell who you are", "connect through its socket"
	}
	clock := api.HealthCheck{Name: "clocks", OK: true, Text: "agree"}
	if d := time.Since(st.At); d > 5*time.Second || d < -5*time.Second {
		clock = api.HealthCheck{Name: "clocks", Text: fmt.Sprintf("the server's is %v from ours", d.Round(time.Second)), Next: "set the clocks"}
	}
	checks := []api.HealthCheck{
		{Name: "server", OK: true, Text: fmt.Sprintf("fairlead %s at %s, up %s, answers in %s", st.Program, address, span(st.At.Sub(st.Started)), span(took))},
		{Name: "store", OK: true, Text: st.Store}, you, clock,
	}
	if st.Program != version {
		checks = append(checks, api.HealthCheck{Name: "versions", OK: true, Text: fmt.Sprintf("the server is %s, this program %s", st.Program, version)})
	}
	return append(checks, st.Checks...)
}

// machineChecks look at what an agent or a server needs on this machine.
func machineChecks() []api.HealthCheck {
	var checks []api.HealthCheck
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		c := api.HealthCheck{Name: "open files", OK: limit.Cur >= 1024, Text: fmt.Sprintf("up to %d", limit.Cur)}
		if !c.OK {
			c.Next = "raise it with: ulimit -n 4096"
		}
		checks = append(checks, c)
	}
	return checks
}
