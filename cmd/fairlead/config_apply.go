package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
)

func (a *app) configApplyCommand() *cobra.Command {
	var r api.ApplyRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "apply --plan ID",
		Short: "Put a plan into force",
		Long: `Put a plan into force that config plan has shown: the server writes it to its file, as a
whole or not at all, and works by it from the next step on. It refuses if anything
changed since that the plan was made from. The file as it was is kept in the server's
database; config rollback brings it back, also after a restart.`,
		Example: "  fairlead config apply --plan 9b1e0c3d --reason 'new funding'",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if r.Plan == "" {
				return usagef("which plan? fairlead config plan FILE shows what a file would change, and names the plan")
			}
			return a.with(func(client *api.Client) error {
				out, err := client.Apply(c.Context(), r)
				if err != nil {
					return err
				}
				return a.printApplied(out, asJSON)
			})
		},
	}
	c.Flags().StringVar(&r.Plan, "plan", "", "name of the plan")
	c.Flags().StringVar(&r.Reason, "reason", "", "why, for the record")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) configRollbackCommand() *cobra.Command {
	var r api.RollbackRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "rollback [--to NUMBER]",
		Short: "Put an earlier version of the file into force",
		Long: `Put an earlier version of the server's file into force, and write it to the file: the
version before, or the one with the number that config history --versions shows. If the file
was edited and that is not in force, as it has an error, the edit is undone, and kept. A
second rollback undoes the first. Settings made with config set stay over the file; undo
them with config unset.`,
		Example: "  fairlead config rollback\n  fairlead config rollback --to 12 --reason 'as it was before the holidays'",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				out, err := client.Rollback(c.Context(), r)
				if err != nil {
					return err
				}
				return a.printApplied(out, asJSON)
			})
		},
	}
	c.Flags().IntVar(&r.To, "to", 0, "number of the version (default: the one before)")
	c.Flags().StringVar(&r.Reason, "reason", "", "why, for the record")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// printApplied says what changed, and how to undo it.
func (a *app) printApplied(out *api.ApplyResponse, asJSON bool) error {
	if asJSON {
		return a.printJSON(out)
	}
	a.printDifferences(out.Changes)
	fmt.Fprintf(a.out, "in force since %s (version %s), written to %s as number %d\n", out.Since.Local().Format("15:04:05"), out.New, out.File, out.Number)
	fmt.Fprintln(a.out, "undo: fairlead config rollback")
	fmt.Fprint(a.errs, out.Warnings)
	return nil
}

// printVersions lists the versions of the file.
func (a *app) printVersions(l *listing, v *api.ConfigVersions) error {
	if l.json {
		return a.printJSON(v)
	}
	t := table.New(table.Column{Name: "NUMBER", Right: true}, table.Column{Name: "SINCE"}, table.Column{Name: "WHO"}, table.Column{Name: "BY"}, table.Column{Name: "VERSION"}, table.Column{Name: "NOW"})
	for _, e := range v.Entries {
		now := ""
		if e.InForce {
			now = "in force"
		}
		t.Row(e.Number, e.At.Local().Format("2006-01-02 15:04:05"), e.Who, e.What, dash(e.Hash), now)
	}
	return a.print(l, t)
}
