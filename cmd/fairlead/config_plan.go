package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

func configDiffCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "diff FILE [OTHER]",
		Short: "Show the differences between a file and the current configuration",
		Long: `Show the differences between the current configuration and a file, or between two files.
Comparing two files needs no server. The values are compared, with all defaults; comments, order and
spelling of values make no difference. Settings that override the file while the server runs
also override the new file, as they would if it were applied.

The exit status is 4 if there are differences, and 0 if there are none.`,
		Example: "  fairlead config diff next.yaml\n  fairlead config diff fairlead.yaml next.yaml --json",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			var d *api.ConfigDiff
			var err error
			if len(args) == 2 {
				d, err = diffFiles(a, args[0], args[1])
			} else {
				err = withFile(a, args[0], func(client *api.Client, f api.ConfigFile) (err error) {
					d, err = client.Config.Diff(c.Context(), f)
					return err
				})
			}
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(d)
			} else {
				printDiff(a, d, args[len(args)-1])
			}
			return changesExit(d, err)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// changesExit returns the exit status for differences, if there are any.
func changesExit(d *api.ConfigDiff, err error) error {
	if err == nil && len(d.Changes) > 0 {
		return exit(api.ExitChanges)
	}
	return err
}

// diffFiles compares two files.
func diffFiles(a *app, old, new string) (*api.ConfigDiff, error) {
	before, err := loadConfig(a, old)
	if err != nil {
		return nil, err
	}
	after, err := loadConfig(a, new)
	if err != nil {
		return nil, err
	}
	d := &api.ConfigDiff{Version: api.Version, Old: before.Shares.Hash, New: after.Shares.Hash, Changes: []api.ConfigDifference{}}
	for _, x := range config.Diff(before, after) {
		d.Changes = append(d.Changes, api.ConfigDifference(x))
	}
	return d, nil
}

// withFile passes a configuration to the server. It prints errors of the file itself, with their lines, as
// config check does.
func withFile(a *app, name string, f func(*api.Client, api.ConfigFile) error) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return usageError{err}
	}
	var problems config.Problems
	if _, err := config.Parse(name, text); errors.As(err, &problems) {
		fmt.Fprint(a.errs, problems.Text())
		return exit(api.ExitUsage)
	}
	return a.with(func(client *api.Client) error {
		return f(client, api.ConfigFile{Name: filepath.Base(name), Text: string(text)})
	})
}

// printDiff prints differences, one per line.
func printDiff(a *app, d *api.ConfigDiff, name string) {
	if len(d.Changes) == 0 {
		fmt.Fprintf(a.out, "no differences: %s is the current configuration (version %s)\n", name, d.New)
	}
	printDifferences(a.out, d.Changes)
	if len(d.Covered) > 0 {
		fmt.Fprintln(a.out, "settings made while the server runs override these values (fairlead config unset PATH):")
		printDifferences(a.out, d.Covered)
	}
	fmt.Fprint(a.errs, d.Warnings)
	for _, b := range d.Beyond {
		fmt.Fprintln(a.errs, "warning:", b)
	}
}

func printDifferences(out io.Writer, all []api.ConfigDifference) {
	width := 0
	for _, x := range all {
		width = max(width, len(x.Path))
	}
	for _, x := range all {
		text := ""
		switch {
		case x.Old == "":
			text = fmt.Sprintf("  + %-*s  %s", width, x.Path, x.New)
		case x.New == "":
			text = fmt.Sprintf("  - %-*s  %s", width, x.Path, x.Old)
		default:
			text = fmt.Sprintf("  ~ %-*s  %s -> %s", width, x.Path, x.Old, x.New)
		}
		if x.Later {
			text += "   (when the server starts the next time)"
		}
		fmt.Fprintln(out, text)
	}
}

func configPlanCommand(a *app) *cobra.Command {
	var asJSON bool
	var last string
	c := &cobra.Command{
		Use:   "plan FILE",
		Short: "Preview what a configuration would change",
		Long: `Show what a configuration would change if it were applied now: the differences; the share
of each pool and its present entitlement, before and after the change; which pools start next; how
many tasks would start or be stopped at once. A copy of the server's scheduler, with the present
jobs and usage, computes this under the new configuration. Nothing is changed, and no job is
touched.

Then the last 24 hours are replayed through the same scheduler in virtual time, under the
current configuration and under the new one: how long the tasks of each pool would have
waited, and how much the pool would have used. The replay begins with the tasks that ran at
the beginning of the replayed time, on a cluster of the present size, and without earlier usage.
It counts only the unit of shares: nodes, memory, licenses and rates are not replayed. A task
that has not ended is assumed to run for as long as the other tasks of its user. --last sets how
far to go back; 0 omits the replay.

A plan has a name, and config apply --plan NAME applies it, unless the current configuration,
its settings or the server's file have changed since.

The exit status is 4 if there are differences, and 0 if there are none.`,
		Example: "  fairlead config plan next.yaml\n  fairlead config plan next.yaml --last 7d --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			back, err := units.ParseDuration(last)
			if err != nil || back < 0 {
				return usagef("--last %q: expected a time such as 24h or 7d, or 0 for no replay", last)
			}
			return withFile(a, args[0], func(client *api.Client, f api.ConfigFile) error {
				p, err := client.Config.Plan(c.Context(), api.ConfigPlanRequest{ConfigFile: f, ReplaySeconds: back.Seconds()})
				if err != nil {
					return err
				}
				if asJSON {
					err = a.printJSON(p)
				} else {
					err = printPlan(a, p, args[0], back)
				}
				return changesExit(&p.ConfigDiff, err)
			})
		},
	}
	c.Flags().StringVar(&last, "last", "24h", "how much of the past to replay; 0 omits the replay")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printPlan(a *app, p *api.ConfigPlan, name string, back time.Duration) error {
	printDiff(a, &p.ConfigDiff, name)
	if len(p.Changes) > 0 {
		fmt.Fprintln(a.out)
		if err := printPools(a.out, p); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "next to start: %s\nat once: %s, %s\n", orderText(p), count(p.Starts, "task starts", "tasks start"), count(p.Stops, "task is stopped", "tasks are stopped"))
	}
	switch {
	case p.Replay != nil:
		if err := printReplay(a.out, p.Replay); err != nil {
			return err
		}
	case back > 0 && len(p.Changes) > 0:
		fmt.Fprintf(a.out, "no replay of the last %s: no task ended then, so run times are unknown\n", span(back))
	}
	if p.Unsaved {
		fmt.Fprintln(a.out, "the server's file has changes that were not applied; this plan replaces them, and they are kept as a version (fairlead config history --versions)")
	}
	if p.ID == "" {
		if len(p.Changes) > 0 {
			fmt.Fprintln(a.out, "the server runs without a file, so this cannot be applied; start it with fairlead serve --config FILE")
		}
		return nil
	}
	fmt.Fprintf(a.out, "plan %s   apply: fairlead config apply --plan %[1]s   (refused if anything changed since; undo: fairlead config rollback)\n", p.ID)
	return nil
}

// printPools prints the pools that the plan changes, and the number of the others.
func printPools(out io.Writer, p *api.ConfigPlan) error {
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "WEIGHT"}, table.Column{Name: "CLUSTER SHARE"}, table.Column{Name: "ENTITLED"},
		table.Column{Name: "RUN", Right: true}, table.Column{Name: "AT ONCE"})
	same := 0
	for _, x := range p.Pools {
		weight, share, fair := changed(why.Short(x.WeightBefore), why.Short(x.WeightAfter)), changed(percent(x.ShareBefore), percent(x.ShareAfter)), changed(oneDigit(x.FairNowBefore), oneDigit(x.FairNowAfter))
		name, once := words.Pool(x.Path), atOnce(&x)
		switch {
		case x.Depth == 0:
			continue
		case x.New:
			name, weight = name+" (new)", why.Short(x.WeightAfter)
		case x.Gone:
			name += " (not named)"
		case !strings.Contains(weight+share+fair, "->") && once == "-":
			same++
			continue
		}
		t.Row(name, weight, share, fair, why.Short(x.Running), once)
	}
	if t.Len() > 0 {
		if err := t.Print(out); err != nil {
			return err
		}
	}
	if same > 0 {
		fmt.Fprintf(out, "%s as before\n", count(same, "pool stays", "pools stay"))
	}
	return nil
}

// printReplay prints the result of the replay.
func printReplay(out io.Writer, r *api.PlanReplay) error {
	fmt.Fprintf(out, "\nreplay of the last %s, %s on %d %s:\n", span(time.Duration(r.Seconds*float64(time.Second))), count(r.Tasks, "task", "tasks"), r.Units, r.Unit)
	t := table.New(table.Column{Name: "POOL"}, table.Column{Name: "TASKS", Right: true}, table.Column{Name: "MEDIAN WAIT"}, table.Column{Name: "95% WAIT"}, table.Column{Name: "USED"})
	for _, x := range r.Pools {
		t.Row(words.Pool(x.Path), x.Tasks,
			changed(lasting(float64(x.MedianWaitBefore)), lasting(float64(x.MedianWaitAfter))),
			changed(lasting(float64(x.P95WaitBefore)), lasting(float64(x.P95WaitAfter))), changed(percent(x.UsedBefore), percent(x.UsedAfter)))
	}
	if err := t.Print(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "utilization %s   Jain's index of the users %s\n", changed(percent(r.UtilisationBefore), percent(r.UtilisationAfter)),
		changed(fmt.Sprintf("%.2f", r.JainBefore), fmt.Sprintf("%.2f", r.JainAfter)))
	if r.NeverBefore+r.NeverAfter > 0 {
		fmt.Fprintf(out, "tasks that would never start (in no row): %s\n", changed(fmt.Sprint(r.NeverBefore), fmt.Sprint(r.NeverAfter)))
	}
	printGuesses(out, r.Guessed, r.LeftOut)
	if r.Cut {
		fmt.Fprintln(out, "too many tasks for a replay: only the latest are included")
	}
	return nil
}

// changed writes one value, or two if they differ.
func changed(before, after string) string {
	if before == after {
		return before
	}
	return before + " -> " + after
}

func atOnce(x *api.PoolPlan) string {
	var parts []string
	if x.Starts > 0 {
		parts = append(parts, fmt.Sprintf("%d start", x.Starts))
	}
	if x.Stops > 0 {
		parts = append(parts, fmt.Sprintf("%d stopped", x.Stops))
	}
	return dash(strings.Join(parts, ", "))
}

// orderText names the pools that start next, before and after the change.
func orderText(p *api.ConfigPlan) string {
	if p.Unranked {
		return "unknown until it is applied: jobs get their priorities then"
	}
	before, after := orNobody(p.Before), orNobody(p.After)
	if slices.Equal(p.Before, p.After) {
		return before + ", as before"
	}
	return before + "   then: " + after
}

func orNobody(pools []string) string {
	if len(pools) == 0 {
		return "no task waits for room"
	}
	return strings.Join(pools, ", ")
}
