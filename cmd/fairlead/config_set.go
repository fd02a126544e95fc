package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

func configSetCommand(a *app) *cobra.Command {
	var r api.SettingsRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "set PATH=VALUE...",
		Short: "Change settings while the server runs",
		Long: `Override settings of the configuration file while the server runs. If one setting is wrong, none is
changed. The settings are checked like the file, take effect at the next step, and are recorded.
They survive a restart and changes of the file; unset returns them to the values of the file.

PATH is the path of a field in the file, with dots; pools inside pools may be written with
slashes (pools.physics/env.weight), and a name with a dot is put in quotes
(pools."x.y".weight). VALUE is written as in the file; @FILE reads it from a file, and an
empty VALUE removes the field, so that its default applies. A number selects an item of a
list: placement.1 is the first rule, and the number after the last rule adds a rule.`,
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
				return show(a, asJSON, a.settingsChanged)(client.Config.Set(c.Context(), r))
			})
		},
	}
	c.Flags().BoolVar(&r.New, "new", false, "create pools that the file does not name")
	c.Flags().StringVar(&r.Reason, "reason", "", "reason for the record of changes")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func configUnsetCommand(a *app) *cobra.Command {
	var r api.UnsetRequest
	var asJSON bool
	c := &cobra.Command{
		Use:     "unset PATH... | --all",
		Short:   "Return settings to the values of the file",
		Long:    "Remove settings that were made with config set; the values of the file apply again.",
		Example: "  fairlead config unset pools.physics.weight\n  fairlead config unset --all",
		RunE: func(c *cobra.Command, args []string) error {
			if r.All == (len(args) > 0) {
				return usagef("expected the paths of settings, or --all; fairlead config show lists them")
			}
			r.Paths = args
			return a.with(func(client *api.Client) error {
				return show(a, asJSON, a.settingsChanged)(client.Config.Unset(c.Context(), r))
			})
		},
	}
	c.Flags().BoolVar(&r.All, "all", false, "remove all settings that were made with config set")
	c.Flags().StringVar(&r.Reason, "reason", "", "reason for the record of changes")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// settingsChanged prints the changes, and how to undo them.
func (a *app) settingsChanged(out *api.SettingsResponse) error {
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
	fmt.Fprintf(a.out, "applied at %s (version %s), kept across restarts\n", out.Since.Local().Format("15:04:05"), out.Hash)
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

func configHistoryCommand(a *app) *cobra.Command {
	var l listing
	var most int
	var versions bool
	c := &cobra.Command{
		Use:   "history",
		Short: "Show the record of changes: who changed what, and when",
		Long: `Show the record of changes, newest first: settings that were set and unset, boosts, pauses,
applied plans, and versions of the file that took effect or were refused. Nothing is ever
removed from it.

--versions lists the last 20 versions of the file: config rollback --to restores one, and
config show --version shows it.`,
		Example: "  fairlead config history\n  fairlead config history --versions\n  fairlead config history -l 0 --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				return a.repeat(c.Context(), &l, func() error {
					if versions {
						return show(a, l.json, func(v *api.ConfigVersions) error { return printVersions(a, &l, v) })(
							client.Config.Versions(c.Context()))
					}
					return show(a, l.json, func(h *api.ConfigHistory) error { return printHistory(a, &l, h) })(
						client.Config.History(c.Context(), most))
				})
			})
		},
	}
	l.flags(c)
	c.Flags().IntVarP(&most, "limit", "l", 100, "number of entries; 0 is all")
	c.Flags().BoolVar(&versions, "versions", false, "list the kept versions of the file")
	return c
}

func printHistory(a *app, l *listing, h *api.ConfigHistory) error {
	t := table.New(table.Column{Name: "TIME", Whole: true}, table.Column{Name: "WHO"},
		table.Column{Name: "FROM", Spare: 2}, table.Column{Name: "WHAT", Whole: true},
		table.Column{Name: "SUBJECT", Whole: true}, table.Column{Name: "OLD", Spare: 1},
		table.Column{Name: "NEW", Wraps: true},
		table.Column{Name: "NOTE", Wraps: true})
	now := time.Now()
	for _, e := range h.Entries {
		what := e.What
		if e.Refused {
			what += " refused"
		}
		t.Row(clock(e.At, now), e.Who, e.From, what, dash(e.Subject), dash(e.Old), dash(e.New), dash(e.Note))
	}
	return a.print(l, t)
}
