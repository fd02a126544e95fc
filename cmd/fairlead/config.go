package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Check a configuration, import one, or show the one in force",
		RunE: func(c *cobra.Command, _ []string) error {
			return usagef("which one? fairlead config check FILE, fairlead config import FILE, or fairlead config show")
		},
		Args: cobra.NoArgs,
	}
	c.AddCommand(a.configCheckCommand(), a.configImportCommand(), a.configShowCommand(), a.configSchemaCommand())
	return c
}

func (a *app) configCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Say what is wrong with a configuration, with line and place",
		Long: `Say what is wrong with a configuration: unknown fields, wrong types, and what cannot
work, such as shares over 100%. It needs no server. The exit status is 2 if there are
errors; warnings and hints leave it 0.`,
		Example: "  fairlead config check /etc/fairlead/fairlead.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := config.Load(args[0])
			var problems config.Problems
			if err != nil && !errors.As(err, &problems) {
				return usageError{err}
			}
			if cfg != nil && err == nil {
				problems = cfg.Report()
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

func (a *app) configShowCommand() *cobra.Command {
	var asJSON, defaults bool
	c := &cobra.Command{
		Use:   "show",
		Short: "Show the configuration in force, with all defaults filled in",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if defaults {
				_, err := a.out.Write(config.Default().YAML())
				return err
			}
			return a.with(func(client *api.Client) error {
				st, err := client.Config(c.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(st)
				}
				from := "built-in defaults"
				if st.File != "" {
					from = st.File
				}
				fmt.Fprintf(a.out, "# version %s, in force since %s, from %s\n%s", st.Hash, st.Since.Local().Format("2006-01-02 15:04:05"), from, st.Text)
				if st.Problem != "" {
					fmt.Fprintf(a.errs, "the file has errors as it is now, and is not in force:\n%s", st.Problem)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&defaults, "defaults", false, "show the built-in defaults instead; needs no server")
	return c
}

func (a *app) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(append(config.Schema(), '\n'))
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
