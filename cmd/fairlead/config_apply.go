package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

func configApplyCommand(a *app) *cobra.Command {
	var r api.ApplyRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "apply --plan ID",
		Short: "Apply a plan",
		Long: `Apply a plan that config plan has made: the server writes it to its configuration file, completely or not
at all, and uses it from the next step on. It refuses the plan if the current configuration, its settings
or the file have changed since. The server's database keeps the previous file; config rollback restores it, also
after a restart.`,
		Example: "  fairlead config apply --plan 9b1e0c3d --reason 'new funding'",
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkPlanNamed(r.Plan, args); err != nil {
				return err
			}
			return a.with(func(client *api.Client) error {
				return show(a, asJSON, a.planApplied)(client.Config.Apply(c.Context(), r))
			})
		},
	}
	c.Flags().StringVar(&r.Plan, "plan", "", "name of the plan")
	c.Flags().StringVar(&r.Reason, "reason", "", "reason for the record of changes")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// checkPlanNamed checks that the command names a plan, and nothing else: nobody can apply a file without having seen
// its changes.
func checkPlanNamed(plan string, args []string) error {
	switch {
	case plan == "" && len(args) == 1:
		return usagef("config apply applies a plan, not a file. Type: fairlead config plan %s, which shows what the file "+
			"changes and prints the command that applies it", words.ShellQuoted(args[0]))
	case plan == "":
		return usagef("a plan is missing; make one with fairlead config plan FILE, which prints its name")
	case len(args) > 0:
		return usagef("the plan %s already contains the file; leave out the file: fairlead config apply --plan %[1]s", plan)
	}
	return nil
}

func configRollbackCommand(a *app) *cobra.Command {
	var r api.RollbackRequest
	var asJSON, yes bool
	c := &cobra.Command{
		Use:   "rollback [--to NUMBER]",
		Short: "Restore an earlier version of the file",
		Long: `Restore an earlier version of the server's file and apply it: the previous version or, with --to,
the version with that number in config history --versions. If the file was edited, and an
error kept the edit from taking effect, rollback without --to only undoes the edit, and keeps it as a
version. A second rollback undoes the first. Settings made with config set still override the file;
undo them with config unset.

The command shows what would change, and asks for confirmation; with --yes it does not ask.`,
		Example: "  fairlead config rollback\n  fairlead config rollback --to 12 --yes --reason 'as it was before the holidays'",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(func(client *api.Client) error {
				if err := a.confirmRollback(c.Context(), client, &r, yes); err != nil {
					return err
				}
				return show(a, asJSON, a.planApplied)(client.Config.Rollback(c.Context(), r))
			})
		},
	}
	c.Flags().IntVar(&r.To, "to", 0, "number of the version (default: the previous one)")
	c.Flags().StringVar(&r.Reason, "reason", "", "reason for the record of changes")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// confirmRollback shows the changes of a rollback, and asks for confirmation. The rollback then goes to the version
// that was shown.
func (a *app) confirmRollback(ctx context.Context, client *api.Client, r *api.RollbackRequest, yes bool) error {
	if yes {
		return nil
	}
	dry := *r
	dry.DryRun = true
	out, err := client.Config.Rollback(ctx, dry)
	if err != nil {
		return err
	}
	plain.Lines(out)
	fmt.Fprintf(a.errs, "rollback to version %d of %s:\n", out.Number, out.File)
	if printDifferences(a.errs, out.Changes); len(out.Changes) == 0 {
		fmt.Fprintln(a.errs, "  no setting changes")
	}
	if !a.interactive() {
		return usagef("nothing was changed; to confirm, add --yes")
	}
	if !a.confirm("Roll back?") {
		return exit(api.ExitRefused)
	}
	r.To = out.Number
	return nil
}

// planApplied prints the changes, and how to undo them.
func (a *app) planApplied(out *api.ApplyResponse) error {
	printDifferences(a.out, out.Changes)
	fmt.Fprintf(a.out, "applied at %s (version %s), written to %s as number %d\n", out.Since.Local().Format("15:04:05"), out.New, out.File, out.Number)
	fmt.Fprintln(a.out, "undo: fairlead config rollback")
	fmt.Fprint(a.errs, out.Warnings)
	return nil
}

// printVersions lists the versions of the file.
func printVersions(a *app, l *listing, v *api.ConfigVersions) error {
	t := table.New(table.Column{Name: "NUMBER", Right: true}, table.Column{Name: "SINCE"}, table.Column{Name: "WHO"}, table.Column{Name: "BY"}, table.Column{Name: "VERSION"}, table.Column{Name: "NOW"})
	for _, e := range v.Entries {
		now := ""
		if e.InForce {
			now = "current"
		}
		t.Row(e.Number, e.At.Local().Format("2006-01-02 15:04:05"), e.Who, e.What, dash(e.Hash), now)
	}
	return a.print(l, t)
}
