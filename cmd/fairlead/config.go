package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Check, import or plan a configuration, show or change the one in force",
		RunE: func(c *cobra.Command, _ []string) error {
			return usagef("which one? fairlead config check FILE, fairlead config import FILE, fairlead config show, fairlead config set PATH=VALUE, or fairlead config plan FILE")
		},
		Args: cobra.NoArgs,
	}
	c.AddCommand(a.configCheckCommand(), a.configImportCommand(), a.configShowCommand(), a.configSetCommand(), a.configUnsetCommand(),
		a.configDiffCommand(), a.configPlanCommand(), a.configApplyCommand(), a.configRollbackCommand(), a.configHistoryCommand(), a.configSchemaCommand())
	return c
}

func (a *app) configCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Say what is wrong with a configuration, with line and place",
		Long: `Say what is wrong with a configuration: unknown fields, wrong types, and what cannot
work, such as shares over 100%. It needs no server; if there is one, it is compared with what
the nodes of that have. The exit status is 2 if there are errors; warnings and hints leave it 0.`,
		Example: "  fairlead config check /etc/fairlead/fairlead.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := config.Load(args[0])
			var problems config.Problems
			if err != nil && !errors.As(err, &problems) {
				return usageError{err}
			}
			if cfg != nil && err == nil {
				problems = append(cfg.Report(), a.beyond(c.Context(), args[0], cfg)...)
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

// beyond is what a configuration promises beyond what the nodes have, if there is a server to ask.
func (a *app) beyond(ctx context.Context, name string, cfg *config.Config) (out config.Problems) {
	c, err := a.client()
	if err != nil {
		return nil
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	d, err := c.Diff(ctx, api.ConfigFile{Name: name, Text: cfg.Text()})
	if err != nil {
		return nil
	}
	for _, text := range d.Beyond {
		out = append(out, config.Problem{File: name, Warning: true, Msg: text})
	}
	return out
}

func (a *app) configShowCommand() *cobra.Command {
	var asJSON, defaults bool
	var version int
	c := &cobra.Command{
		Use:   "show [PATH]",
		Short: "Show the configuration in force, with all defaults filled in",
		Long: `Show the configuration in force, with all defaults filled in, and which of its values
were set while the server runs. With a PATH, such as pools.physics.weight, show that value
alone. --version shows an earlier version of the file, as it was written.`,
		Example: "  fairlead config show\n  fairlead config show pools.physics.weight\n  fairlead config show --defaults",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if defaults {
				_, err := a.document().Write(config.Default().YAML())
				return err
			}
			return a.with(func(client *api.Client) error {
				if version > 0 {
					return a.showVersion(c.Context(), client, version, asJSON)
				}
				if len(args) == 1 {
					return a.showValue(c.Context(), client, args[0], asJSON)
				}
				st, err := client.Config(c.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(st)
				}
				a.showConfig(st)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&defaults, "defaults", false, "show the built-in defaults instead; needs no server")
	c.Flags().IntVar(&version, "version", 0, "show the version of the file with this number (see config history --versions)")
	return c
}

func (a *app) showValue(ctx context.Context, client *api.Client, path string, asJSON bool) error {
	v, err := client.ConfigValue(ctx, path)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(v)
	}
	fmt.Fprintln(a.out, v.Value)
	return nil
}

func (a *app) showVersion(ctx context.Context, client *api.Client, number int, asJSON bool) error {
	v, err := client.ConfigVersion(ctx, number)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(v)
	}
	fmt.Fprint(a.document(), v.Text)
	return nil
}

// showConfig prints a configuration as a file with comments.
func (a *app) showConfig(st *api.ConfigStatus) {
	plain.Lines(&st.Settings)
	st.Hash, st.File = plain.Line(st.Hash), plain.Line(st.File)
	from := "built-in defaults"
	if st.File != "" {
		from = st.File
	}
	if othersFile(st) {
		from = "another server"
	}
	fmt.Fprintf(a.out, "# version %s, in force since %s, from %s\n", st.Hash, st.Since.Local().Format("2006-01-02 15:04:05"), from)
	if len(st.Settings) > 0 {
		where := "put over it while the server runs"
		if st.Aside {
			where = "made while the server ran, and not in force: they do not fit the file"
		}
		fmt.Fprintf(a.out, "# settings %s (fairlead config unset PATH):\n", where)
		for _, s := range st.Settings {
			fmt.Fprintf(a.out, "#   %s: %s   (file: %s) by %s %s\n", s.Path, orNothing(s.Value), orNothing(s.File), s.By, s.At.Local().Format("2006-01-02 15:04:05"))
		}
	}
	fmt.Fprint(a.document(), st.Text)
	switch {
	case strings.HasPrefix(st.Problem, "the settings"), othersFile(st):
		fmt.Fprintln(a.errs, strings.TrimRight(st.Problem, "\n"))
	case st.Problem != "":
		fmt.Fprintf(a.errs, "the file has errors as it is now, and is not in force:\n%s", st.Problem)
	}
}

// othersFile reports whether the file of another server is in force in place of the server's own.
func othersFile(st *api.ConfigStatus) bool {
	return strings.HasPrefix(st.Problem, "the file is not what is in force")
}

func (a *app) configSchemaCommand() *cobra.Command {
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

// loadConfig reads a configuration for use; warnings are printed.
func (a *app) loadConfig(file string) (*config.Config, error) {
	cfg, err := config.Load(file)
	var problems config.Problems
	switch {
	case errors.As(err, &problems):
		fmt.Fprint(a.errs, problems.Text())
		return nil, exit(api.ExitUsage)
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("configuration: %w; see the defaults with: fairlead config show --defaults", err)
	case err != nil:
		return nil, usageError{err}
	}
	if len(cfg.Problems) > 0 {
		fmt.Fprint(a.errs, cfg.Problems.Text())
	}
	return cfg, nil
}
