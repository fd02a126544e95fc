// Command fairlead shares machines or workers fairly between users, and says why.
//
// One binary contains the server, the agent, the client, the simulator of single steps and the demonstration.
// Each subcommand has its own file; this file wires them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/socket"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the command line and returns the exit status.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	safe, safeErrs := plain.NewWriter(out), plain.NewWriter(errs)
	root := newRoot(&app{in: in, out: safe, errs: safeErrs})
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(safe)
	root.SetErr(safeErrs)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = safe.Err() // the reader got less than the whole output
	}
	if err == nil {
		return 0
	}
	return report(ctx, cmd, err, safeErrs)
}

// report prints an error and returns its exit status.
func report(ctx context.Context, cmd *cobra.Command, err error, errs io.Writer) int {
	var status exit
	if errors.As(err, &status) {
		return int(status)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return 130 // interrupted, by the convention of shells
	}
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintln(errs, "fairlead:", err)
	} else { // the server's text may hold instants
		fmt.Fprintln(errs, "fairlead:", instant.ByClock(err.Error(), time.Now()))
	}
	switch {
	case usage.error != nil:
		fmt.Fprintf(errs, "see: %s --help\n", cmd.CommandPath())
		return api.ExitUsage
	case errors.As(err, new(*socket.StrangerError)):
		return api.ExitUnreachable // the error says what to do
	case errors.Is(err, api.ErrUnreachable) && errors.Is(err, os.ErrPermission):
		fmt.Fprintln(errs, "only the owner and the group of the socket may connect; the administrator can change that with socket_mode and socket_group in the configuration")
		return api.ExitUnreachable
	case errors.Is(err, api.ErrUnreachable):
		fmt.Fprintln(errs, "start a server with: fairlead serve --dev    or give its socket with --server or FAIRLEAD_SERVER")
		return api.ExitUnreachable
	}
	return api.Exit(err)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "fairlead",
		Short:         "Share machines or workers fairly, and say why",
		Long:          "fairlead shares machines or workers fairly between users, teams and tenants, and\nanswers \"why is my job waiting?\" with the numbers that it compared.",
		SilenceErrors: true, SuggestionsMinimumDistance: 2,
		SilenceUsage: true,
		Version:      version + build(),
		Example: `  fairlead demo                           under a minute, nothing to install
  fairlead serve --dev                    a server and an agent on this machine
  fairlead submit -- echo hello           a job
  fairlead why 1                          why it waits, with numbers`,
	}
	root.Args = knownCommand
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	root.SetVersionTemplate("fairlead {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.PersistentFlags().StringVar(&a.server, "server", os.Getenv("FAIRLEAD_SERVER"),
		"path of the server's socket; for fairlead work also https://HOST:PORT")
	root.PersistentFlags().StringVar(&a.serverUser, "server-user", os.Getenv("FAIRLEAD_SERVER_USER"), "user of the server, if that is neither root nor you")
	root.AddGroup(&cobra.Group{ID: "start", Title: "Begin:"}, &cobra.Group{ID: "jobs", Title: "Jobs:"},
		&cobra.Group{ID: "cluster", Title: "Shares and machines:"}, &cobra.Group{ID: "admin", Title: "For administrators:"})
	add := func(group string, commands ...func(*app) *cobra.Command) {
		for _, command := range commands {
			c := command(a)
			c.GroupID = group
			wrapArgs(c)
			a.completeAll(c)
			root.AddCommand(c)
		}
	}
	add("start", demoCommand, serveCommand, workCommand)
	add("jobs", submitCommand, queueCommand, whyCommand, cancelCommand, uncancelCommand, holdCommand, releaseCommand,
		requeueCommand, alterCommand, prioCommand, logsCommand, historyCommand)
	add("cluster", sharesCommand, topCommand, reportCommand, nodesCommand, limitsCommand, drainCommand, pauseCommand,
		resumeCommand, reserveCommand, dashboardCommand, explainCommand)
	add("admin", configCommand, boostCommand, usageCommand, tokenCommand, bridgeCommand, stepCommand, simCommand,
		benchCommand, doctorCommand, clusterCommand, licensesCommand)
	root.SetHelpCommand(helpCommand(root))
	add("", versionCommand, manCommand)
	nameFlagTypes(root)
	return root
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, as --version does",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(a.out, "fairlead", c.Root().Version)
			return err
		},
	}
}

// helpCommand prints the help of a command. Unlike the library's command, it refuses unknown commands.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		ValidArgsFunction: func(_ *cobra.Command, args []string, begin string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if c, _, err := root.Find(args); err == nil {
				for _, sub := range c.Commands() {
					if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begin) {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil && c == root && len(rest) > 0 {
				err = knownCommand(root, rest)
			}
			if err != nil {
				return err
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// knownCommand refuses an unknown command, and suggests a similar one.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	root.SuggestionsMinimumDistance = 2
	if len(args[0]) <= 3 {
		root.SuggestionsMinimumDistance = 1 // in a name of three letters, two changes can make any word
	}
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q - did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown command %q", args[0])
}

// unexpected names the first argument that a command does not take, or says that one is missing.
func unexpected(cmd *cobra.Command, args []string, check cobra.PositionalArgs) string {
	for n := len(args) - 1; n >= 0; n-- {
		if check(cmd, args[:n]) == nil {
			return fmt.Sprintf("unexpected argument %.80q; ", args[n])
		}
	}
	return "an argument is missing; "
}

// wrapArgs turns a wrong number of arguments, and an unknown subcommand, into a usage error.
func wrapArgs(c *cobra.Command) {
	if c.HasSubCommands() && c.Use == c.Name() { // a group of commands
		c.Args = nil
		run := c.RunE
		if run == nil {
			run = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
		c.RunE = func(c *cobra.Command, args []string) error {
			if err := knownCommand(c, args); err != nil {
				return err
			}
			return run(c, args)
		}
	}
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var said usageError
			switch {
			case errors.As(err, &said):
				return err // about a flag
			case err != nil:
				return usagef("%sexpected: %s", unexpected(cmd, args, check), cmd.UseLine())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// build returns the commit from which the program was built, if it is known.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return " (" + s.Value[:12] + ")"
		}
	}
	return ""
}
