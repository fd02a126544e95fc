package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

func (a *app) configSetCommand() *cobra.Command {
	var r api.SettingsRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "set PATH=VALUE...",
		Short: "Change settings while the server runs",
		Long: `Put settings over the configuration file while the server runs: all of them, or none if
one is wrong. They are checked as the file is, are in force at the next step, hold over a
restart and when the file changes, and are recorded. unset gives them back to the file.

PATH is the way to a field of the file, with dots; pools inside pools may be written with
slashes (pools.physics/env.weight), and a name that holds a dot is put in quotes
(pools."x.y".weight). VALUE is what the file would say; @FILE takes it from a file, and
nothing removes the field, so that its default is in force. An item of a list is its number:
placement.1 is the first rule, and the number after the last adds one.`,
		Example: `  fairlead config set pools.physics.weight=3
  fairlead config set pools.c0.load=30% pools.c1.load=70%
  fairlead config set rebalance.threshold=20 rebalance.min_duration=4m
  fairlead config set 'placement.1={requestor: "land.*", pool: land}'
  fairlead config set placement=@rules.yaml
  fairlead config set pools.physics.max=           no maximum
  fairlead config set --new pools.guests.weight=0.5`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, arg := range args {
				s, err := config.SplitSetting(arg)
				if err != nil {
					return usageError{err}
				}
				if file, ok := strings.CutPrefix(s.Value, "@"); ok {
					text, err := os.ReadFile(file)
					if err != nil {
						return usageError{err}
					}
					s.Value = string(text)
				}
				r.Settings = append(r.Settings, api.SettingValue{Path: s.Path, Value: s.Value})
			}
			return a.with(func(client *api.Client) error {
				out, err := client.Set(c.Context(), r)
				if err != nil {
					return err
				}
				return a.printChanges(out, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&r.New, "new", false, "make pools that the file does not name")
	c.Flags().StringVar(&r.Reason, "reason", "", "why, for the record")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) configUnsetCommand() *cobra.Command {
	var r api.UnsetRequest
	var asJSON bool
	c := &cobra.Command{
		Use:     "unset PATH... | --all",
		Short:   "Give settings back to the file",
		Long:    "Give settings that were made with set back to the file: what it says is in force again.",
		Example: "  fairlead config unset pools.physics.weight\n  fairlead config unset --all",
		RunE: func(c *cobra.Command, args []string) error {
			if r.All == (len(args) > 0) {
				return usagef("expected the paths of settings, or --all; fairlead config show lists what is set")
			}
			r.Paths = args
			return a.with(func(client *api.Client) error {
				out, err := client.Unset(c.Context(), r)
				if err != nil {
					return err
				}
				return a.printChanges(out, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&r.All, "all", false, "all that are set")
	c.Flags().StringVar(&r.Reason, "reason", "", "why, for the record")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// printChanges says what was changed, and how to undo it.
func (a *app) printChanges(out *api.SettingsResponse, asJSON bool) error {
	if asJSON {
		return a.printJSON(out)
	}
	var back, unset []string
	for _, x := range out.Changes {
		fmt.Fprintf(a.out, "%s: %s -> %s\n", x.Path, orNothing(x.Old), orNothing(x.New))
		if x.WasSet {
			back = append(back, words.ShellQuoted(x.Path+"="+x.Old))
		} else if x.IsSet {
			unset = append(unset, words.ShellQuoted(x.Path))
		}
	}
	if len(out.Changes) == 0 {
		fmt.Fprintln(a.out, "nothing was set")
		return nil
	}
	fmt.Fprintf(a.out, "in force since %s (version %s), also after a restart\n", out.Since.Local().Format("15:04:05"), out.Hash)
	var undo []string
	if len(back) > 0 {
		undo = append(undo, "fairlead config set "+strings.Join(back, " "))
	}
	if len(unset) > 0 {
		undo = append(undo, "fairlead config unset "+strings.Join(unset, " "))
	}
	fmt.Fprintf(a.out, "undo: %s\n", strings.Join(undo, " && "))
	fmt.Fprint(a.errs, out.Warnings)
	return nil
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

func (a *app) configHistoryCommand() *cobra.Command {
	var l listing
	var most int
	var versions bool
	c := &cobra.Command{
		Use:   "history",
		Short: "Show who changed what, and when",
		Long: `Show the record of changes, newest first: settings that were set and unset, boosts,
pauses, plans that were applied, and versions of the file that took force or were refused.
Nothing is ever taken out of it.

--versions lists the versions of the file that are kept, the last 20: config rollback --to
puts one into force again, and config show --version shows it.`,
		Example: "  fairlead config history\n  fairlead config history --versions\n  fairlead config history -l 0 --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				return a.repeat(c.Context(), &l, func() error {
					if versions {
						v, err := client.ConfigVersions(c.Context())
						if err != nil {
							return err
						}
						return a.printVersions(&l, v)
					}
					h, err := client.ConfigHistory(c.Context(), most)
					if err != nil {
						return err
					}
					return a.printHistory(&l, h)
				})
			})
		},
	}
	l.flags(c)
	c.Flags().IntVarP(&most, "limit", "l", 100, "how many entries; 0 is all")
	c.Flags().BoolVar(&versions, "versions", false, "list the versions of the file that are kept")
	return c
}

func (a *app) printHistory(l *listing, h *api.ConfigHistory) error {
	if l.json {
		return a.printJSON(h)
	}
	t := table.New(table.Column{Name: "TIME"}, table.Column{Name: "WHO"}, table.Column{Name: "FROM"}, table.Column{Name: "WHAT"},
		table.Column{Name: "SUBJECT"}, table.Column{Name: "OLD"}, table.Column{Name: "NEW"}, table.Column{Name: "NOTE"})
	for _, e := range h.Entries {
		what := e.What
		if e.Refused {
			what += " refused"
		}
		t.Row(e.At.Local().Format("2006-01-02 15:04:05"), e.Who, e.From, what, dash(e.Subject), dash(e.Old), dash(e.New), dash(e.Note))
	}
	return a.print(l, t)
}
