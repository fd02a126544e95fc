package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
)

func configCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Check, import, plan, show or change the configuration",
		RunE: func(c *cobra.Command, _ []string) error {
			return usagef("a subcommand is missing: fairlead config check FILE, fairlead config import FILE, fairlead config show, fairlead config set PATH=VALUE, or fairlead config plan FILE")
		},
		Args: cobra.NoArgs,
	}
	c.AddCommand(
		configCheckCommand(a), configImportCommand(a), configShowCommand(a), configSetCommand(a), configUnsetCommand(a),
		configDiffCommand(a), configPlanCommand(a), configApplyCommand(a), configRollbackCommand(a), configHistoryCommand(a),
		configSchemaCommand(a),
	)
	return c
}

func configCheckCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a configuration; show errors with line and column",
		Long: `Check a configuration: unknown fields, wrong types, and values that cannot work, such as
shares over 100%. It needs no server; if one runs, the configuration is compared with the
resources of its nodes. The exit status is 2 if there are errors, and 0 for warnings and hints.`,
		Example: "  fairlead config check /etc/fairlead/fairlead.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := config.Load(args[0])
			var problems config.Problems
			if err != nil && !errors.As(err, &problems) {
				return usageError{err}
			}
			if cfg != nil && err == nil {
				problems = append(cfg.Report(), beyond(c.Context(), a, args[0], cfg)...)
			}
			if asJSON {
				out := map[string]any{"version": api.Version, "file": args[0], "problems": append(config.Problems{}, problems...)}
				if cfg != nil && err == nil {
					out["hash"] = cfg.Shares.Hash
				}
				if jerr := a.printJSON(out); jerr != nil {
					return jerr
				}
			} else if len(problems) > 0 {
				fmt.Fprint(a.out, problems.Text())
			} else {
				fmt.Fprintf(a.out, "%s: no problems (version %s)\n", args[0], cfg.Shares.Hash)
			}
			if err != nil {
				return exit(api.ExitUsage)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// beyond returns, if a server answers, a warning for each resource whose promised amount exceeds the amount
// of the nodes.
func beyond(ctx context.Context, a *app, name string, cfg *config.Config) (out config.Problems) {
	c, err := a.client()
	if err != nil {
		return nil
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	d, err := c.Config.Diff(ctx, api.ConfigFile{Name: name, Text: cfg.Text()})
	if err != nil {
		return nil
	}
	for _, text := range d.Beyond {
		out = append(out, config.Problem{File: name, Warning: true, Msg: text})
	}
	return out
}

func configShowCommand(a *app) *cobra.Command {
	var asJSON, defaults bool
	var version int
	c := &cobra.Command{
		Use:   "show [PATH]",
		Short: "Show the current configuration, with all defaults",
		Long: `Show the current configuration with all defaults, and mark the values that were set while
the server runs. With a PATH, such as pools.physics.weight, show only that value. --version
shows an earlier version of the file, as it was written.`,
		Example: "  fairlead config show\n  fairlead config show pools.physics.weight\n  fairlead config show --defaults",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if defaults {
				_, err := a.document().Write(config.Default().YAML())
				return err
			}
			return a.with(func(client *api.Client) error {
				if version > 0 {
					return show(a, asJSON, func(v *api.ConfigVersion) error {
						fmt.Fprint(a.document(), v.Text)
						return nil
					})(client.Config.Version(c.Context(), version))
				}
				if len(args) == 1 {
					return show(a, asJSON, func(v *api.ConfigValue) error {
						fmt.Fprintln(a.out, v.Value)
						return nil
					})(client.Config.Value(c.Context(), args[0]))
				}
				return show(a, asJSON, func(st *api.ConfigStatus) error {
					showConfig(a, st)
					return nil
				})(client.Config.Status(c.Context()))
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&defaults, "defaults", false, "show the built-in defaults instead; needs no server")
	c.Flags().IntVar(&version, "version", 0, "show this version of the file (see config history --versions)")
	return c
}

// showConfig prints a configuration as a file with comments.
func showConfig(a *app, st *api.ConfigStatus) {
	plain.Lines(&st.Settings)
	st.Hash, st.File = plain.Line(st.Hash), plain.Line(st.File)
	from := "built-in defaults"
	if st.File != "" {
		from = st.File
	}
	if othersFile(st) {
		from = "another server"
	}
	fmt.Fprintf(a.out, "# version %s, applied at %s, from %s\n", st.Hash, st.Since.Local().Format("2006-01-02 15:04:05"), from)
	if len(st.Settings) > 0 {
		where := "that override the file"
		if st.Aside {
			where = "without effect, because they do not fit the file"
		}
		fmt.Fprintf(a.out, "# settings %s (fairlead config unset PATH):\n", where)
		for _, s := range st.Settings {
			fmt.Fprintf(a.out, "#   %s: %s   (file: %s) by %s %s\n", s.Path, orNothing(s.Value), orNothing(s.File), s.By, s.At.Local().Format("2006-01-02 15:04:05"))
		}
	}
	fmt.Fprint(a.document(), st.Text)
	switch {
	case strings.HasPrefix(st.Problem, "the settings"), strings.HasPrefix(st.Problem, api.WaitsForRestart), othersFile(st):
		fmt.Fprintln(a.errs, strings.TrimRight(st.Problem, "\n"))
	case st.Problem != "":
		fmt.Fprintf(a.errs, "the file has errors and was not applied:\n%s\n", strings.TrimRight(st.Problem, "\n"))
	}
}

// othersFile reports whether the current configuration is the file of another server instead of the server's
// own.
func othersFile(st *api.ConfigStatus) bool {
	return strings.HasPrefix(st.Problem, "the file differs from the current configuration")
}

func configSchemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.document().Write(append(config.Schema(), '\n'))
			return err
		},
	}
}
