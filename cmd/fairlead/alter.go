package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
)

// alteration is a command that changes jobs.
type alteration struct {
	*app
	selection
	verb     string
	past     string // the participle, such as "canceled"
	part     string // the part of the jobs that it affects, such as "the waiting tasks of "; empty: all
	waiting  bool   // only the waiting tasks of the jobs
	tasks    bool   // running tasks of the jobs continue as they are, so that -t waiting includes arrays with some
	undo     string // the command that undoes it, with %s for the jobs
	state    string // the state in which it leaves jobs: the undo command selects jobs in this state; empty if none
	states   []string
	priority string
	qos      string
	nice     int
	pool     string
	limit    string           // new time limit
	raise    api.AlterRequest // has the fields of the priority set
	cause    string
	since    string // oldest end of the jobs, for verbs that bring back ended jobs
	again    bool   // the verb brings back ended jobs
	at       time.Time
	dry      bool // show how the order of starts would change, and change nothing
	yes      bool
	json     bool
	read     func(*cobra.Command) error // reads the flags that only this command has; nil: none
}

func (x *alteration) command(name, short string) *cobra.Command {
	c := &cobra.Command{Use: name + " (JOB... | -u USER | -A POOL) [flags]", Short: short, RunE: x.run}
	x.selection.flags(c)
	c.Flags().StringVar(&x.cause, "reason", "",
		"reason to show in the job's history; why and queue also show the reason of a hold")
	c.Flags().BoolVar(&x.yes, "yes", false, "do not ask for confirmation when several jobs are affected")
	c.Flags().BoolVar(&x.json, "json", false, "print JSON")
	return c
}

// sinceFlag adds the flag without which a selection of ended jobs is refused, because the selection would include
// all jobs that ever failed or were canceled.
func (x *alteration) sinceFlag(c *cobra.Command) {
	c.Flags().StringVarP(&x.since, "since", "S", "",
		"only jobs that ended since this time: 24h (ago), 7d, 2026-11-01, 08:00; "+
			"required to select ended jobs by -u, -A, -k or -t")
}

// setSince adds the time span of ended jobs to a selection.
func (x *alteration) setSince(v url.Values) error {
	if !x.again || !slices.ContainsFunc(v["state"], words.Done) {
		return nil
	}
	if x.since == "" {
		return usagef("--since is missing: without it, all ended jobs that match would be %s; "+
			"limit how long ago they ended, such as with --since 24h", x.past)
	}
	since, err := units.ParsePast(x.since, time.Now())
	if err != nil {
		return usagef("--since: %w", err)
	}
	v.Set("since", since.Format(time.RFC3339Nano))
	return nil
}

func (x *alteration) run(c *cobra.Command, args []string) error {
	ids, err := jobIDs(args)
	if err != nil {
		return err
	}
	ids = eachOnce(ids)
	if x.read != nil {
		if err := x.read(c); err != nil {
			return err
		}
	}
	if len(ids) == 0 && x.selection.empty() {
		return usagef("no jobs are given: name them, or select them with -u, -A, -k or -t")
	}
	if len(ids) > 0 && x.since != "" {
		return usagef("--since works only with a selection by -u, -A, -k or -t, not with job numbers")
	}
	if len(ids) > 0 && !x.selection.empty() {
		return usagef("give either job numbers or a selection with -u, -A, -k or -t, not both")
	}
	return x.with(func(client *api.Client) error {
		if len(ids) == 0 {
			if ids, err = x.choose(c.Context(), client); err != nil {
				return err
			}
			if len(ids) == 0 {
				fmt.Fprintln(x.out, "no job matches")
				return nil
			}
		}
		if x.dry {
			return x.reorder(c.Context(), client, ids)
		}
		return x.apply(c.Context(), client, ids)
	})
}

// eachOnce returns the jobs in their order, without duplicates.
func eachOnce(ids []int64) (out []int64) {
	known := map[int64]bool{}
	for _, id := range ids {
		if !known[id] {
			out = append(out, id)
		}
		known[id] = true
	}
	return out
}

// choose returns the jobs of a selection. It lists them and asks for confirmation.
func (x *alteration) choose(ctx context.Context, client *api.Client) ([]int64, error) {
	v, err := x.selection.values()
	if err != nil {
		return nil, err
	}
	switch {
	case len(x.selection.states) == 0:
		v["state"] = x.states
	case x.tasks:
		withArrays(v)
	}
	if err := x.setSince(v); err != nil {
		return nil, err
	}
	held := x.verb == "release" && slices.Equal(v["state"], []string{"held"})
	if held { // a held job is in the state running while tasks of it run
		v["state"] = []string{"held", "queued", "running"}
	}
	v.Set("limit", "10000")
	var jobs []api.Job
	for {
		list, err := client.Jobs.List(ctx, v)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, list.Jobs...)
		if !list.More {
			break
		}
		v.Set("after", strconv.FormatInt(jobs[len(jobs)-1].ID, 10))
	}
	if held {
		jobs = slices.DeleteFunc(jobs, func(j api.Job) bool { return !j.Held })
	}
	if x.waiting {
		jobs = slices.DeleteFunc(jobs, func(j api.Job) bool { return j.Waiting == 0 })
	}
	ids := make([]int64, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
	}
	if len(ids) == 0 || x.yes || x.dry {
		return ids, nil
	}
	x.victims(jobs)
	if !x.interactive() {
		return nil, usagef("%s%s would be %s; to confirm, add --yes", x.part, count(len(ids), "job", "jobs"), x.past)
	}
	does := strings.ToUpper(x.verb[:1]) + x.verb[1:]
	if x.verb == "limit" {
		does = "Set the time limit of"
	}
	if !x.confirm(fmt.Sprintf("%s %s%s?", does, x.part, these(len(ids)))) {
		return nil, exit(api.ExitRefused)
	}
	return ids, nil
}

// these refers to the n jobs of the list above.
func these(n int) string {
	if n == 1 {
		return "this job"
	}
	return fmt.Sprintf("these %d jobs", n)
}

func (x *alteration) victims(jobs []api.Job) {
	plain.Lines(&jobs)
	for i, j := range jobs {
		if i == shown {
			fmt.Fprintf(x.errs, "  … and %d more\n", len(jobs)-shown)
			return
		}
		fmt.Fprintf(x.errs, "  %d %s (%s, %s) %s\n", j.ID, j.Name, j.User, words.Pool(j.Pool), j.State)
	}
}

// maxAlter limits the number of jobs in one request.
const maxAlter = 50_000

func (x *alteration) apply(ctx context.Context, client *api.Client, ids []int64) error {
	x.at = time.Now()
	var good, bad, notes []string
	var all []*api.Error
	for rest := ids; len(rest) > 0; {
		n := min(maxAlter, len(rest))
		r, err := client.Jobs.Alter(ctx, api.AlterRequest{
			Verb: x.verb, Jobs: rest[:n], Priority: x.raise.Priority, QOS: x.raise.QOS, Nice: x.raise.Nice,
			Pool: x.raise.Pool, Limit: x.raise.Limit, Cause: x.cause, Waiting: x.waiting,
		})
		if err != nil {
			return err
		}
		for i, e := range r.Results {
			if all = append(all, e); e != nil {
				bad = append(bad, e.Detail)
			} else {
				good = append(good, strconv.FormatInt(rest[i], 10))
			}
		}
		rest, notes = rest[n:], append(notes, r.Notes...)
	}
	if x.json {
		if err := x.printJSON(api.AlterResponse{Version: api.Version, Results: all, Notes: notes}); err != nil {
			return err
		}
	} else {
		x.report(good, bad)
		x.note(notes)
	}
	if len(bad) > 0 {
		return exit(api.ExitRefused)
	}
	return nil
}

// note prints the server's notes about the parts of the jobs that the change does not affect.
func (x *alteration) note(notes []string) {
	for i, n := range notes {
		if i == shown {
			fmt.Fprintf(x.errs, "note: … and %d more\n", len(notes)-shown)
			break
		}
		fmt.Fprintln(x.errs, "note:", plain.Line(n))
	}
}

// report lists the changes and says how to undo them.
func (x *alteration) report(good, bad []string) {
	for i, b := range bad {
		if i == shown {
			fmt.Fprintf(x.errs, "fairlead: … and %d more\n", len(bad)-shown)
			break
		}
		fmt.Fprintln(x.errs, "fairlead:", instant.ByClock(plain.Line(b), time.Now()))
	}
	switch n := len(good); {
	case n == 0:
	case n == 1:
		fmt.Fprintf(x.out, "%s %sjob %s", x.past, x.part, good[0])
	default:
		fmt.Fprintf(x.out, "%s %s%d jobs", x.past, x.part, n)
	}
	if len(good) > 0 && x.undo != "" {
		fmt.Fprintf(x.out, "    (%s)", x.undoing(good))
	}
	if len(good) > 0 {
		fmt.Fprintln(x.out)
	}
}

// maxUndo limits how many selected jobs the undo command names.
const maxUndo = 1000

// undoing returns the command that undoes the change. It names all jobs, so that it can be run as it is. For
// more than maxUndo selected jobs it selects them again, by the state in which the change left them if there
// is one.
func (x *alteration) undoing(good []string) string {
	if len(good) <= maxUndo || x.selection.empty() || x.state == "" {
		return "undo: " + fmt.Sprintf(x.undo, strings.Join(good, " "))
	}
	again, before := x.selection.whose()+"-t "+x.state, "before"
	if words.Done(x.state) { // ended jobs need a time span, but the clocks of this machine and the server may differ
		again += " --since " + stamp(x.at.Add(-time.Minute))
		before = "in the minute before"
	}
	return fmt.Sprintf("undo, including jobs that were %s %s: "+x.undo, x.past, before, again)
}

// reorder prints how the order of starts would change.
func (x *alteration) reorder(ctx context.Context, client *api.Client, ids []int64) error {
	if len(ids) > maxReorder {
		return usagef("--dry-run takes at most %d jobs at once, not %d", maxReorder, len(ids))
	}
	r, err := client.Jobs.Reorder(ctx, api.ReorderRequest{
		Jobs: ids, Priority: x.raise.Priority, QOS: x.raise.QOS, Nice: x.raise.Nice,
	})
	if err != nil {
		return err
	}
	if x.json {
		return x.printJSON(r)
	}
	printMoved(x.out, r.Jobs)
	if left := len(ids) - len(r.Jobs); left > 0 {
		fmt.Fprintf(x.out, "%d of these jobs %s\n", left, units.OneOf(left, "does not wait, so the order does not depend on it",
			"do not wait, so the order does not depend on them"))
	}
	printOthers(x.out, &r.Reordering)
	fmt.Fprintf(x.out, "nothing was changed; to do it: fairlead alter %s\n", x.flagsAgain(ids))
	return nil
}

// flagsAgain returns the arguments that make the change: the jobs as the user chose them, and the new values.
func (x *alteration) flagsAgain(ids []int64) string {
	parts := x.selection.again()
	if x.selection.empty() {
		for _, id := range ids {
			parts = append(parts, strconv.FormatInt(id, 10))
		}
	}
	if x.raise.Priority != "" {
		parts = append(parts, "--priority", words.ShellQuoted(x.raise.Priority))
	}
	if x.raise.QOS != nil {
		parts = append(parts, "--qos", words.ShellQuoted(*x.raise.QOS))
	}
	if x.raise.Nice != nil {
		parts = append(parts, "--nice", strconv.Itoa(*x.raise.Nice))
	}
	return strings.Join(parts, " ")
}

// maxReorder limits the number of jobs in one --dry-run.
const maxReorder = 10_000
