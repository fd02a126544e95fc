package main

import (
	"context"
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
)

// alteration is a command that changes jobs.
type alteration struct {
	*app
	selection
	verb     string
	past     string // "cancelled"
	undo     string // how to undo it, with %s for the jobs
	states   []string
	priority string
	qos      string
	nice     int
	pool     string
	raise    api.AlterRequest // of which the fields of the priority are set
	cause    string
	dry      bool // say what would change in the order, and change nothing
	yes      bool
	json     bool
}

func (a *app) cancelCommand() *cobra.Command {
	x := &alteration{app: a, verb: "cancel", past: "cancelled", undo: "fairlead requeue %s", states: openStates}
	c := x.command("cancel", "Cancel jobs: what waits never starts, what runs is stopped")
	c.Example = "  fairlead cancel 1042\n  fairlead cancel -u ann -t waiting"
	return c
}

func (a *app) holdCommand() *cobra.Command {
	x := &alteration{app: a, verb: "hold", past: "held", undo: "fairlead release %s", states: []string{"blocked", "waiting", "queued", "running"}}
	return x.command("hold", "Hold jobs: what waits stays, what runs goes on")
}

func (a *app) releaseCommand() *cobra.Command {
	x := &alteration{app: a, verb: "release", past: "released", undo: "fairlead hold %s", states: []string{"held"}}
	return x.command("release", "Release jobs that are held")
}

func (a *app) requeueCommand() *cobra.Command {
	x := &alteration{app: a, verb: "requeue", past: "requeued", undo: "fairlead cancel %s", states: []string{"queued", "running", "failed", "cancelled"}}
	c := x.command("requeue", "Run jobs again: ended ones from the start, running ones after they are stopped")
	c.Long = `Run jobs again: ended ones from the start, running ones after they are stopped. A job
that was requeued does not wait again for the jobs that it depended on.`
	c.Example = "  fairlead requeue 1042\n  fairlead requeue -u ann -t failed"
	return c
}

func (a *app) alterCommand() *cobra.Command {
	x := &alteration{app: a, verb: "prioritise", past: "changed", states: openStates}
	c := x.command("alter", "Change the priority of jobs, or their pool")
	c.Long = `Change the priority of jobs within their pool or, under the policy multifactor, what
counts for their priority among all jobs: their quality of service and how nice they are.

--dry-run says who would start earlier and who later, and changes nothing.

--move-to puts jobs into another pool, if none of their tasks runs. It is as if they were
submitted there: the pool has to be one that they may be in, and a job that has no time limit
gets that of the pool. Jobs keep their place by age, and what they had stays charged to
the pool in which they had it.`
	c.Example = "  fairlead alter 1042 --priority high\n  fairlead alter 1042 --qos high --nice 100\n  fairlead alter 1042 1043 --priority high --dry-run\n  fairlead alter -u ann -t waiting --move-to physics"
	c.Flags().StringVar(&x.priority, "priority", "", "very_high, high, normal, low or very_low")
	c.Flags().StringVar(&x.qos, "qos", "", "quality of service under the policy multifactor; \"\" is that of the priority")
	c.Flags().IntVar(&x.nice, "nice", 0, "what to give up of the priority under the policy multifactor; below 0 for administrators only")
	c.Flags().BoolVar(&x.dry, "dry-run", false, "say how the order of starts would change, and change nothing")
	c.Flags().StringVar(&x.pool, "move-to", "", "the pool to put the jobs into, if none of their tasks runs")
	return c
}

func (x *alteration) command(name, short string) *cobra.Command {
	c := &cobra.Command{Use: name + " (JOB... | -u USER | -A POOL) [flags]", Short: short, RunE: x.run}
	x.selection.flags(c)
	c.Flags().StringVar(&x.cause, "reason", "", "why, for the job's history")
	c.Flags().BoolVar(&x.yes, "yes", false, "do not ask when several jobs are hit")
	c.Flags().BoolVar(&x.json, "json", false, "print JSON")
	return c
}

func (x *alteration) run(c *cobra.Command, args []string) error {
	ids, err := jobIDs(args)
	if err != nil {
		return err
	}
	if x.verb == "prioritise" {
		x.raise.Priority = x.priority
		if c.Flags().Changed("qos") {
			x.raise.QOS = &x.qos
		}
		if c.Flags().Changed("nice") {
			x.raise.Nice = &x.nice
		}
		raise := x.priority != "" || x.raise.QOS != nil || x.raise.Nice != nil
		switch {
		case x.pool != "" && raise:
			return usagef("either --move-to, or --priority, --qos and --nice: they are two commands")
		case x.pool != "" && x.dry:
			return usagef("--dry-run is for --priority, --qos and --nice; ask about a pool with: fairlead why JOB --what-if")
		case x.pool != "":
			x.verb, x.past, x.raise.Pool = "move", "moved", x.pool
		case !raise:
			return usagef("--priority is missing: very_high, high, normal, low or very_low; or --qos, --nice or --move-to")
		}
	}
	if len(ids) == 0 && x.selection.empty() {
		return usagef("which jobs? Name them, or choose with -u, -A, -k or -t")
	}
	if len(ids) > 0 && !x.selection.empty() {
		return usagef("either jobs by number or a selection with -u, -A, -k, -t, not both")
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

// choose lists the victims of a selection, and asks.
func (x *alteration) choose(ctx context.Context, client *api.Client) ([]int64, error) {
	v, err := x.selection.values()
	if err != nil {
		return nil, err
	}
	if len(x.selection.states) == 0 {
		v["state"] = x.states
	}
	v.Set("limit", "10000")
	var jobs []api.Job
	for {
		list, err := client.Jobs(ctx, v)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, list.Jobs...)
		if !list.More {
			break
		}
		v.Set("after", strconv.FormatInt(jobs[len(jobs)-1].ID, 10))
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
		return nil, usagef("%d jobs would be %s; say --yes to do it", len(ids), x.past)
	}
	if !x.confirm(fmt.Sprintf("%s these %d jobs?", strings.ToUpper(x.verb[:1])+x.verb[1:], len(ids))) {
		return nil, exit(api.ExitRefused)
	}
	return ids, nil
}

func (x *alteration) victims(jobs []api.Job) {
	plain.Lines(&jobs)
	for i, j := range jobs {
		if i == shown {
			fmt.Fprintf(x.errs, "  … and %d more\n", len(jobs)-shown)
			return
		}
		fmt.Fprintf(x.errs, "  %d %s (%s, %s) %s\n", j.ID, j.Name, j.User, j.Pool, j.State)
	}
}

// maxAlter is how many jobs go into one request.
const maxAlter = 50_000

func (x *alteration) apply(ctx context.Context, client *api.Client, ids []int64) error {
	var good, bad, notes []string
	var all []*api.Error
	for rest := ids; len(rest) > 0; {
		n := min(maxAlter, len(rest))
		cause := x.cause
		if u, err := user.Current(); err == nil && cause != "" {
			cause += " (by " + u.Username + ")"
		}
		r, err := client.Alter(ctx, api.AlterRequest{Verb: x.verb, Jobs: rest[:n], Priority: x.raise.Priority, QOS: x.raise.QOS, Nice: x.raise.Nice, Pool: x.raise.Pool, Cause: cause})
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
		x.tell(good, bad)
		x.note(notes)
	}
	if len(bad) > 0 {
		return exit(api.ExitRefused)
	}
	return nil
}

// shown is how many lines of a kind are printed.
const shown = 10

// note says what the change does not reach.
func (x *alteration) note(notes []string) {
	for i, n := range notes {
		if i == shown {
			fmt.Fprintf(x.errs, "note: … and %d more\n", len(notes)-shown)
			break
		}
		fmt.Fprintln(x.errs, "note:", plain.Line(n))
	}
}

// tell says what was done and how to undo it.
func (x *alteration) tell(good, bad []string) {
	for i, b := range bad {
		if i == shown {
			fmt.Fprintf(x.errs, "fairlead: … and %d more\n", len(bad)-shown)
			break
		}
		fmt.Fprintln(x.errs, "fairlead:", plain.Line(b))
	}
	switch n := len(good); {
	case n == 0:
	case n == 1:
		fmt.Fprintf(x.out, "%s job %s", x.past, good[0])
	default:
		fmt.Fprintf(x.out, "%s %d jobs", x.past, n)
	}
	if len(good) > 0 && x.undo != "" {
		names := strings.Join(good[:min(len(good), shown)], " ")
		if len(good) > shown {
			names += " …"
		}
		fmt.Fprintf(x.out, "    (undo: "+x.undo+")", names)
	}
	if len(good) > 0 {
		fmt.Fprintln(x.out)
	}
}
