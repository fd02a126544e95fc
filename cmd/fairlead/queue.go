package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os/user"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

// selection holds the flags of commands that select jobs.
type selection struct {
	user, pool, kind string
	states           []string
}

func (s *selection) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&s.user, "user", "u", "", "jobs of this user")
	f.StringVarP(&s.pool, "pool", "A", "", "jobs of this pool and those below it")
	f.StringVarP(&s.kind, "kind", "k", "", "jobs of this kind")
	f.StringSliceVarP(&s.states, "state", "t", nil, "jobs in these states: held, blocked, waiting, "+
		"queued (in another queueing system), running, succeeded, failed, cancelled (or their first letters)")
}

// whose returns the flags of the selection except the states, each with a space after it.
func (s *selection) whose() string {
	flags := ""
	for _, f := range [][2]string{{"-u", s.user}, {"-A", s.pool}, {"-k", s.kind}} {
		if f[1] != "" {
			flags += f[0] + " " + words.ShellQuoted(f[1]) + " "
		}
	}
	return flags
}

// values returns the selection as query parameters of the API.
func (s *selection) values() (url.Values, error) {
	v := url.Values{}
	for name, value := range map[string]string{"user": s.user, "pool": s.pool, "kind": s.kind} {
		if value != "" {
			v.Set(name, value)
		}
	}
	states, err := s.stateNames()
	if len(states) > 0 {
		v["state"] = states
	}
	return v, err
}

// stateNames returns the full names of the states.
func (s *selection) stateNames() (names []string, err error) {
	for _, st := range s.states {
		full, err := stateName(st)
		if err != nil {
			return nil, err
		}
		names = append(names, full)
	}
	return names, nil
}

// withArrays adds the arrays with waiting and running tasks to a list of waiting jobs. They are in the state running.
func withArrays(v url.Values) {
	if slices.Equal(v["state"], []string{"waiting"}) {
		v["state"] = []string{"waiting", "queued", "running"}
		v.Set("waits", "true")
	}
}

// of returns the parameters for the selected jobs, limited to the jobs in args if there are any.
func (s *selection) of(args []string) (url.Values, error) {
	v, err := s.values()
	if err != nil {
		return nil, err
	}
	ids, err := jobIDs(args)
	for _, id := range ids {
		v.Add("ids", strconv.FormatInt(id, 10))
	}
	return v, err
}

// again returns the flags that repeat the selection.
func (s *selection) again() (flags []string) {
	for _, f := range []struct{ name, value string }{{"-u", s.user}, {"-A", s.pool}, {"-k", s.kind}, {"-t", strings.Join(s.states, ",")}} {
		if f.value != "" {
			flags = append(flags, f.name, words.ShellQuoted(f.value))
		}
	}
	return flags
}

func (s *selection) empty() bool {
	return s.user == "" && s.pool == "" && s.kind == "" && len(s.states) == 0
}

// openStates are the states of jobs that have not ended.
var openStates = []string{"held", "blocked", "waiting", "queued", "running"}

func stateName(text string) (string, error) {
	text = strings.ToLower(text)
	switch text {
	case "pending", "pd":
		return "waiting", nil
	case "completed", "cd":
		return "succeeded", nil
	case "r":
		return "running", nil
	}
	for name, letter := range words.StateLetters {
		if text == name || text == strings.ToLower(letter) {
			return name, nil
		}
	}
	return "", usagef("%q is not a state: held, blocked, waiting, queued, running, succeeded, failed, cancelled", text)
}

type queueList struct {
	*app
	listing
	selection
	all, long, start bool
	sort             string
	limit            int
}

func queueCommand(a *app) *cobra.Command {
	q := &queueList{app: a}
	c := &cobra.Command{
		Use:     "queue [JOB...]",
		Aliases: []string{"q"},
		Short:   "List jobs in the order in which they would start",
		Long: `List the jobs that have not ended: first the jobs without waiting tasks, then the others in the
order of their next starts. Your own jobs are marked with *. An array takes one line. 4x8 under CPU means
four tasks that start at once, with eight processors each.

RANK is the position of a job's next task among all tasks that could start, assuming that slots become
free one by one and no new jobs arrive; it is "-" if the job would not start even then. START is
the latest start if every task uses its whole time limit and no new job goes ahead: the planned start
of backfilling, or the result of a forecast. Without time limits it is the likely start, such as ~14:30. If that is unknown too, the
column shows "-".`,
		Example: `  fairlead queue -u ann
  fairlead queue -t waiting -l
  fairlead queue --start             waiting jobs, in the order of starts
  fairlead queue -t waiting --sort width --limit 5
  fairlead queue --watch
  fairlead queue -o job,rank,"waiting for"`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := q.checkOrder(); err != nil {
				return err
			}
			return q.with(func(client *api.Client) error {
				return q.repeat(c.Context(), &q.listing, func() error { return q.show(c.Context(), client, args) })
			})
		},
	}
	q.listing.flags(c)
	q.selection.flags(c)
	c.Flags().BoolVar(&q.all, "all", false, "include jobs that have ended")
	c.Flags().BoolVarP(&q.long, "long", "l", false, "more columns; for the terms of priorities, see fairlead prio")
	c.Flags().BoolVar(&q.start, "start", false, "only waiting jobs, sorted by estimated start")
	c.Flags().StringVar(&q.sort, "sort", "", "largest first: by width (units at once), memory, limit or age")
	c.Flags().IntVar(&q.limit, "limit", 1000, "maximum number of jobs")
	return c
}

// checkOrder refuses an unknown order of jobs, before a server is asked.
func (q *queueList) checkOrder() error {
	switch _, known := queueOrders("")[q.sort]; {
	case q.sort == "":
	case q.start:
		return usagef("--start lists jobs by their starts; leave out --sort")
	case !known:
		names := strings.Join(slices.Sorted(maps.Keys(queueOrders(""))), ", ")
		return usagef("--sort: %q is not known; known: %s", q.sort, names)
	}
	return nil
}

func (q *queueList) show(ctx context.Context, client *api.Client, args []string) error {
	v, err := q.of(args)
	if err != nil {
		return err
	}
	if len(q.states) == 0 && !q.all && len(args) == 0 {
		v["state"] = openStates
	}
	if withArrays(v); q.start && len(q.states) == 0 {
		v["state"] = []string{"waiting"}
		v.Set("next", "true") // includes arrays with running tasks
	}
	if slices.Contains(v["state"], "failed") { // tasks of an array that still runs may have failed for good
		v.Set("failing", "true")
	}
	var order *jobOrder
	if q.sort != "" {
		if order, err = sorted(ctx, client, v, q.sort, q.limit); err != nil {
			return err
		}
	}
	v.Set("rank", "true")
	v.Set("start", "true")
	v.Set("limit", strconv.Itoa(q.limit))
	list, err := client.Jobs.List(ctx, v)
	if err != nil {
		return err
	}
	if q.start {
		sortStarts(list)
	}
	if q.long = q.long || len(q.columns) > 0; q.json {
		if order != nil {
			order.sort(list.Jobs)
		}
		return q.printJSON(list)
	}
	plain.Lines(list)
	if q.terminal() && !q.noHeader {
		q.headline(list)
		q.troubles(ctx, client)
	}
	switch {
	case order != nil:
		order.sort(list.Jobs)
	case !q.start:
		words.SortQueue(list.Jobs)
	}
	if err := q.print(&q.listing, q.table(list)); err != nil {
		return err
	}
	if list.More {
		fmt.Fprintf(q.errs, "there are more than %d jobs; see them with --limit, -u, -A or -t\n", q.limit)
	}
	return nil
}

// headline prints a summary of the cluster in one line.
func (q *queueList) headline(list *api.JobList) {
	s := list.Summary
	last := "never"
	if s.LastStep != nil {
		last = span(list.At.Sub(*s.LastStep)) + " ago"
	}
	used := s.Capacity[s.Unit] - s.Free[s.Unit]
	fmt.Fprintf(q.out, "%s  waiting %d tasks   running %d (%d of %d %s)   last step %s\n",
		list.At.Local().Format("15:04:05 MST"), s.Waiting, s.Running, used, s.Capacity[s.Unit], s.Unit, last)
}

// troubles prints a line for each thing that does not work at present.
func (q *queueList) troubles(ctx context.Context, client *api.Client) {
	h, err := client.Doctor(ctx, true)
	if err != nil {
		return // an older server does not know this; the list of jobs is complete without it
	}
	for _, c := range h.Checks {
		fmt.Fprintln(q.out, "!", plain.Line(words.Trouble(c)))
	}
}

// sortStarts keeps only the waiting jobs and sorts them by start; jobs with unknown starts come last.
func sortStarts(list *api.JobList) {
	list.Jobs = slices.DeleteFunc(list.Jobs, func(j api.Job) bool { return j.Waiting == 0 })
	words.SortQueue(list.Jobs)
	sortStable(list.Jobs, func(a, b *api.Job) bool {
		if a.StartBy == nil || b.StartBy == nil {
			return a.StartBy != nil && b.StartBy == nil
		}
		return a.StartBy.Before(*b.StartBy)
	})
}

func (q *queueList) table(list *api.JobList) *table.Table {
	unit := strings.ToUpper(list.Summary.Unit)
	columns := []table.Column{
		{Name: "JOB", Right: true}, {Name: "USER"}, {Name: "POOL", Least: 10}, {Name: "NAME", Spare: 2}, {Name: "KIND", Spare: 5},
		{Name: unit, Right: true}, {Name: "LIMIT", Right: true, Spare: 4}, {Name: "ST", Whole: true},
		{Name: "DONE", Right: true, Spare: 3}, {Name: "AGE", Right: true, Spare: 6}, {Name: "RANK", Right: true, Spare: 1},
		{Name: "START", Whole: true, Spare: 1}, {Name: "WAITING FOR", Wraps: !q.long},
	}
	if q.long {
		columns = append(columns, table.Column{Name: "STARTED", Whole: true, Spare: 6}, table.Column{Name: "NODES", Spare: 5},
			table.Column{Name: "LEFT", Right: true, Spare: 6},
			table.Column{Name: "PRIORITY", Spare: 8},
			table.Column{Name: "POINTS", Right: true, Spare: 7}, table.Column{Name: "TASKS", Whole: true, Spare: 6},
			table.Column{Name: "REQUEST", Spare: 7}, table.Column{Name: "COMMAND", Spare: 9})
	}
	t := table.New(columns...)
	me := "?"
	if u, err := user.Current(); err == nil {
		me = u.Username
	}
	for i := range list.Jobs {
		t.Row(q.row(&list.Jobs[i], list, me)...)
		if list.Jobs[i].User == me && q.terminal() {
			t.Mark()
		}
	}
	return t
}

func (q *queueList) row(j *api.Job, list *api.JobList, me string) []any {
	id := words.JobID(j)
	if j.User == me {
		id = "*" + id
	}
	finished := "-"
	if j.Tasks > 1 {
		finished = fmt.Sprintf("%d/%d", j.Succeeded+j.Failed, j.Tasks) // canceled tasks are not done
	}
	row := []any{
		id, j.User, words.Pool(j.Pool), dash(j.Name), dash(j.Kind), words.Units(j, list.Summary.Unit), words.Limit(j.LimitSeconds),
		words.State(j), finished, span(list.At.Sub(j.Submitted)), words.Rank(j), words.Start(j, list.At), words.WaitingFor(j, list.At),
	}
	if q.long {
		row = append(row, clockOr(j.RunsSince, list.At), dash(words.Nodes(j)), dash(words.Left(j, list.At)), j.Priority,
			points(j), tasksOf(j), dash(amounts(j.Request, list.Summary.Unit)),
			command(j))
	}
	return row
}

// sortStable sorts jobs and keeps the order of equal ones.
func sortStable(jobs []api.Job, less func(a, b *api.Job) bool) {
	sort.SliceStable(jobs, func(i, j int) bool { return less(&jobs[i], &jobs[j]) })
}

// points writes the priority of a job under the policy multifactor.
func points(j *api.Job) string {
	if j.Points == nil {
		return "-"
	}
	return pointsText(*j.Points)
}
