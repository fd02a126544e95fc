package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
)

func doctorCommand(a *app) *cobra.Command {
	var asJSON, strict, quiet bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the server, its agents and this machine for problems",
		Long: `Check the server, its agents and this machine for problems. The result of each check is ok, WARN
or FAIL. Each check shows what it found and, unless it is ok, what to do. The exit status is 1
if a check failed, and with --strict also if there is a warning. In JSON each check has the
measured number and its bounds.`,
		Example: "  fairlead doctor\n  fairlead doctor --quiet --strict && echo all is well\n  fairlead doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			checks := diagnose(c.Context(), a)
			worst := api.Worst(checks)
			if asJSON {
				if err := a.printJSON(api.Diagnosis{Version: api.Version, At: time.Now(), Result: worst, Checks: checks}); err != nil {
					return err
				}
			} else if err := printChecks(a.out, checks, quiet); err != nil {
				return err
			}
			if worst == api.ResultFail || strict && worst != api.ResultOK {
				return exit(api.ExitRefused)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&strict, "strict", false, "count warnings as failures")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only checks that are not ok")
	return c
}

func printChecks(out io.Writer, checks []api.HealthCheck, quiet bool) error {
	t := table.New(table.Column{Name: "CHECK"}, table.Column{Name: "RESULT"}, table.Column{Name: "DETAIL", Wraps: true})
	shown := 0
	for _, x := range checks {
		if quiet && x.Result == api.ResultOK {
			continue
		}
		shown++
		text := plain.Line(x.Text)
		if x.Next != "" {
			text += "  ->  " + plain.Line(x.Next)
		}
		t.Row(x.Name, map[string]string{api.ResultOK: "ok", api.ResultWarn: "WARN", api.ResultFail: "FAIL"}[x.Result], text)
	}
	if shown == 0 {
		return nil
	}
	return t.Print(out)
}

// diagnose checks the connection to the server, the server, and this machine.
func diagnose(ctx context.Context, a *app) []api.HealthCheck {
	checks := []api.HealthCheck{}
	client, err := a.client()
	if err != nil {
		return append(checks, failedCheck("server", err.Error(), "see --server"))
	}
	defer client.Close()
	began := time.Now()
	st, err := client.Status(ctx)
	took := time.Since(began)
	if err == nil {
		checks = append(checks, serverChecks(st, client.Address, took)...)
		var found *api.Diagnosis
		if found, err = client.Doctor(ctx, false); err == nil {
			checks = append(append(checks, found.Checks...), metricsCheck(ctx, client))
		}
	}
	switch {
	case errors.Is(err, api.ErrUnreachable):
		checks = append(checks, failedCheck("server", err.Error(), "fairlead serve --dev"))
	case err != nil:
		checks = append(checks, failedCheck("server", err.Error(), "see the server's log"))
	}
	return append(checks, machineChecks()...)
}

func failedCheck(name, text, next string) api.HealthCheck {
	return api.HealthCheck{Name: name, Result: api.ResultFail, Text: text, Next: next}
}

// judged returns a check of a number. It warns from the number "warn" on, and fails from the number "fail" on.
func judged(name, text string, value float64, unit string, warn, fail float64, next string) api.HealthCheck {
	c := api.HealthCheck{Name: name, Result: api.ResultOK, Text: text, Value: &value, Unit: unit, WarnAt: &warn, FailAt: &fail}
	if value >= warn {
		c.Result, c.Next = api.ResultWarn, next
	}
	if value >= fail {
		c.Result = api.ResultFail
	}
	return c
}

func serverChecks(st *api.ServerStatus, address string, took time.Duration) []api.HealthCheck {
	you := api.HealthCheck{Name: "identity", Result: api.ResultOK, Text: fmt.Sprintf("you are %s, known by %s", st.You.User, st.You.By)}
	if st.You.Admin {
		you.Text += "; you may do everything"
	}
	if st.You.UID < 0 {
		you = failedCheck("identity", "the server does not know who you are", "connect through its socket")
	}
	apart := time.Since(st.At)
	text := "agree"
	if apart.Abs() > time.Second {
		text = fmt.Sprintf("the server's clock differs by %v from this machine's", apart.Round(time.Second))
	}
	checks := []api.HealthCheck{
		judged("server", fmt.Sprintf("fairlead %s at %s, up %s, answers in %s", st.Program, address, span(st.At.Sub(st.Started)), span(took)), took.Seconds(), "s", 0.5, 5, "check what else uses the machine"),
		{Name: "store", Result: api.ResultOK, Text: st.Store}, you,
		judged("clocks", text, apart.Abs().Seconds(), "s", 5, 60, "set the clocks: timedatectl set-ntp true"),
	}
	if st.Program != version {
		checks = append(checks, api.HealthCheck{Name: "version", Result: api.ResultWarn, Text: fmt.Sprintf("the server is %s, this program %s", st.Program, version), Next: "install the same version everywhere"})
	}
	return checks
}

// metricsCheck checks that the metrics can be read.
func metricsCheck(ctx context.Context, client *api.Client) api.HealthCheck {
	const next = "see the server's log"
	began := time.Now()
	text, err := client.Open(ctx, "/metrics")
	if err != nil {
		return failedCheck("metrics", err.Error(), next)
	}
	defer text.Close()
	series := 0
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			series++
		}
	}
	if err := lines.Err(); err != nil {
		return failedCheck("metrics", err.Error(), next)
	}
	took := time.Since(began)
	return judged("metrics", fmt.Sprintf("%d series in %s", series, span(took)), took.Seconds(), "s", 2, 10, "Prometheus gives up after 10 s: check what else uses the machine")
}

// machineChecks checks how many open files this machine allows.
func machineChecks() []api.HealthCheck {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	files := float64(min(limit.Cur, 1<<53))
	c := api.HealthCheck{Name: "open files", Result: api.ResultOK, Text: fmt.Sprintf("up to %d", limit.Cur), Value: &files, Unit: "files"}
	if limit.Cur < 1024 {
		c.Result, c.Next = api.ResultWarn, "raise it with: ulimit -n 4096"
	}
	return []api.HealthCheck{c}
}
