package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/submit"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

type reserve struct {
	*app
	listing
	nodes, pools, users                []string
	start, lasts, reason               string
	constraint, mem                    string
	cpus                               int
	gpus                               []string
	maintenance, force, dry, cancelled bool
}

func reserveCommand(a *app) *cobra.Command {
	s := &reserve{app: a}
	c := &cobra.Command{
		Use:   "reserve [NAME --nodes NODES --start TIME --duration TIME (--maint | --pool POOL | --user USER)]",
		Short: "Reserve nodes for some jobs or for maintenance",
		Long: `Reserve nodes for a time: for jobs of some pools and users that ask for the reservation with
submit --reservation NAME or, with --maint, for maintenance. Without a name, list the
reservations.

Before a reservation begins, a task starts on its nodes only if its time limit ends before
then: tasks without a limit do not start there. When a maintenance begins, the nodes get the
state maintenance, and when it ends they return automatically. Tasks that are still running when a
reservation begins are not stopped. Therefore fairlead refuses a reservation if tasks on its nodes
may still be running when it begins; --force reserves the nodes anyway.

If the reservation exists already, the flags change it.`,
		Example: `  fairlead reserve service --nodes n1,n2 --start 2d --duration 4h --maint --reason 'new switch'
  fairlead reserve course --nodes 2 -C rack=b --start 2026-12-24T10:00 --duration 3h --pool teaching
  fairlead reserve course --duration 5h
  fairlead reserve
  fairlead reserve course --cancel`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return s.with(func(client *api.Client) error { return s.run(c, client, args) })
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringSliceVar(&s.nodes, "nodes", nil, "names of nodes, or a number of nodes")
	f.StringVar(&s.start, "start", "", "begin: now, 2d (from now), 16:00, tomorrow 08:00, 2026-12-24T08:00")
	f.StringVar(&s.lasts, "duration", "", "duration: 4h, 2d")
	f.BoolVar(&s.maintenance, "maint", false, "maintenance: no job runs on the nodes")
	f.StringSliceVarP(&s.pools, "pool", "A", nil, "pools whose jobs may use it, with the pools below them")
	f.StringSliceVarP(&s.users, "user", "u", nil, "users whose jobs may use it")
	f.StringVar(&s.reason, "reason", "", "reason to show")
	f.StringVarP(&s.constraint, "constraint", "C", "", "label constraint on chosen nodes")
	f.IntVarP(&s.cpus, "cpus", "c", 0, "minimum processors of chosen nodes")
	f.StringVar(&s.mem, "mem", "", "minimum memory of chosen nodes")
	f.StringSliceVarP(&s.gpus, "gpus", "G", nil, "minimum GPUs of chosen nodes, e.g. a100:2")
	f.BoolVar(&s.force, "force", false, "reserve even if tasks may still be running when the reservation begins")
	f.BoolVar(&s.dry, "dry-run", false, "show the effects of the reservation, or of --cancel; change nothing")
	f.BoolVar(&s.cancelled, "cancel", false, "end the reservation now")
	s.listing.flags(c)
	return c
}

func (s *reserve) run(c *cobra.Command, client *api.Client, args []string) error {
	ctx := c.Context()
	switch {
	case len(args) == 0:
		if name := s.nameless(c); name != "" {
			return usagef("--%s: the name of the reservation is missing: fairlead reserve NAME ...", name)
		}
		return s.repeat(ctx, &s.listing, func() error { return show(s.app, s.json, s.table)(client.Nodes.Reservations(ctx)) })
	case args[0] == "":
		return usagef("the name of the reservation is empty: fairlead reserve NAME ...")
	case s.cancelled && s.dry:
		return s.tryEnd(ctx, client, args[0])
	case s.cancelled:
		return show(s.app, s.json, s.ended)(client.Nodes.Unreserve(ctx, args[0]))
	}
	r, err := s.asked(time.Now())
	if err != nil {
		return err
	}
	undo := "fairlead reserve " + args[0] + " --cancel"
	if was, err := client.Nodes.Reservations(ctx); err == nil {
		for i := range was.Reservations {
			if x := &was.Reservations[i]; x.Name == args[0] {
				undo = again(x) // undo restores the reservation as it was before the change
			}
		}
	}
	out, err := client.Nodes.Reserve(ctx, args[0], *r)
	if err != nil {
		return ofFlag(err)
	}
	if s.json {
		return s.printJSON(out)
	}
	plain.Lines(out)
	x, now := &out.Reservation, time.Now()
	fmt.Fprintf(s.out, "%s: %s on %s, from %s until %s\n", x.Name, words.Reserved(x), strings.Join(x.Nodes, ", "), begins(x, now), instant.Clock(x.Until, now))
	if s.dry {
		printDelays(s.out, out.Delays)
		fmt.Fprintln(s.out, "nothing was reserved")
		if len(out.Overruns) > 0 {
			fmt.Fprintln(s.errs, "warning:", instant.ByClock(engine.OverrunText(out.Overruns), now)+": refused without --force; with it, they continue")
		}
		return nil
	}
	if !x.Maintenance {
		fmt.Fprintf(s.out, "use it with: fairlead submit --reservation %s\n", x.Name)
	}
	fmt.Fprintln(s.out, "undo:", undo)
	if len(out.Overruns) > 0 {
		fmt.Fprintln(s.errs, "warning:", instant.ByClock(engine.OverrunText(out.Overruns), now)+"; they continue")
	}
	return nil
}

// nameless returns a flag that applies to one reservation; "" if only the list is requested.
func (s *reserve) nameless(c *cobra.Command) (name string) {
	list := &cobra.Command{}
	new(listing).flags(list)
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && list.Flags().Lookup(f.Name) == nil {
			name = f.Name
		}
	})
	return name
}

// reserveFlags maps fields of a request to flags, each with a text for the end of an error.
var reserveFlags = map[string]struct{ flag, next string }{
	"start": {"start", ""}, "duration": {"duration", ""}, "nodes": {"nodes", "; see fairlead nodes"}, "constraint": {"constraint", ""},
	"pool": {"pool", " (--pool, --user, --maint)"}, "maintenance": {"maint", " (--pool, --user)"},
}

// ofFlag replaces the field of a request in the server's error by the flag.
func ofFlag(err error) error {
	field, text, _ := strings.Cut(err.Error(), ": ")
	if f, known := reserveFlags[field]; known && errors.Is(err, queue.ErrInvalid) {
		return usagef("--%s: %s%s", f.flag, text, f.next)
	}
	return err
}

// asked returns the request that the flags make.
func (s *reserve) asked(now time.Time) (*api.ReserveRequest, error) {
	r := &api.ReserveRequest{
		Maintenance: s.maintenance, Pools: s.pools, Users: s.users, Reason: s.reason, Force: s.force, DryRun: s.dry, Constraint: s.constraint, Request: queue.Amounts{},
	}
	if n, err := strconv.Atoi(strings.Join(s.nodes, ",")); err == nil {
		if r.Count = n; n < 1 {
			return nil, usagef("--nodes: must be at least 1, got %d", n)
		}
	} else {
		r.Nodes = s.nodes
	}
	if err := s.size(r.Request); err != nil {
		return nil, err
	}
	if r.Count == 0 && (len(r.Request) > 0 || s.constraint != "") {
		return nil, usagef("-c, --mem, -G and -C say which nodes to choose: use them with --nodes N")
	}
	if s.start != "" {
		at, err := units.ParseStart(s.start, now)
		if err != nil {
			return nil, usagef("--start: %w", err)
		}
		r.From = at
	}
	if s.lasts != "" {
		d, err := units.ParseDuration(s.lasts)
		if err == nil && d <= 0 {
			err = fmt.Errorf("must be more than 0")
		}
		if err != nil {
			return nil, usagef("--duration: %w", err)
		}
		r.Seconds = d.Seconds()
	}
	return r, nil
}

// size parses the resources that chosen nodes must have.
func (s *reserve) size(to queue.Amounts) error {
	if s.cpus > 0 {
		to["cpu"] = int64(s.cpus)
	}
	if s.mem != "" {
		n, err := units.ParseSize(s.mem)
		if err != nil {
			return usagef("--mem: %w", err)
		}
		to["mem"] = n
	}
	if err := submit.AddGPUs(to, s.gpus); err != nil {
		return usageError{err}
	}
	return nil
}

// begins writes when a reservation begins, and how long it is until then.
func begins(r *engine.Reservation, now time.Time) string {
	text := instant.Clock(r.From, now)
	if r.From.After(now) {
		text += " (in " + why.Until(r.From, now) + ")"
	}
	return text
}

// again returns the command that makes this reservation.
func again(x *engine.Reservation) string {
	return fmt.Sprintf("fairlead reserve %s --nodes %s --start %s --duration %s%s%s --force", x.Name,
		strings.Join(x.Nodes, ","),
		x.From.Local().Format("2006-01-02T15:04:05"), units.FormatDuration(x.Until.Sub(x.From).Round(time.Second)), whoFlags(x),
		words.ReasonFlag(x.Reason))
}

// whoFlags returns the flags for the users of a reservation.
func whoFlags(r *engine.Reservation) string {
	text := ""
	if r.Maintenance {
		text = " --maint"
	}
	if len(r.Pools) > 0 {
		text += " --pool " + strings.Join(r.Pools, ",")
	}
	if len(r.Users) > 0 {
		text += " --user " + strings.Join(r.Users, ",")
	}
	return text
}

func (s *reserve) table(doc *api.Reservations) error {
	t := table.New(table.Column{Name: "NAME"}, table.Column{Name: "FOR"}, table.Column{Name: "NODES"},
		table.Column{Name: "FROM", Whole: true}, table.Column{Name: "UNTIL", Whole: true}, table.Column{Name: "STATE"},
		table.Column{Name: "BY", Spare: 1}, table.Column{Name: "REASON", Wraps: true})
	for i := range doc.Reservations {
		r := &doc.Reservations[i]
		state, who := "now", words.ForWhom(r)
		if r.From.After(doc.At) {
			state = "in " + why.Until(r.From, doc.At)
		}
		if r.Maintenance {
			who = "maintenance"
		}
		t.Row(r.Name, who, strings.Join(r.Nodes, ","), instant.Clock(r.From, doc.At), instant.Clock(r.Until, doc.At), state, dash(r.By), dash(r.Reason))
	}
	return s.print(&s.listing, t)
}

func (s *reserve) ended(out *api.ReserveResponse) error {
	x := &out.Reservation
	fmt.Fprintf(s.out, "ended %s; all tasks may start again on %s\n", x.Name, strings.Join(x.Nodes, ", "))
	if x.Until.After(time.Now()) {
		fmt.Fprintln(s.out, "undo:", again(x))
	}
	return nil
}

// tryEnd prints which reservation would end, and which jobs ask for it.
func (s *reserve) tryEnd(ctx context.Context, client *api.Client, name string) error {
	all, err := client.Nodes.Reservations(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all.Reservations, func(x engine.Reservation) bool { return x.Name == name })
	if i < 0 {
		return queue.Missingf("no reservation %q; see fairlead reserve", name)
	}
	x := &all.Reservations[i]
	ids, err := asking(ctx, client, name)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(ending{Version: api.Version, Reservation: *x, Jobs: ids})
	}
	plain.Lines(x)
	fmt.Fprintf(s.out, "would end %s: %s on %s, from %s until %s\n", x.Name, words.Reserved(x), strings.Join(x.Nodes, ", "), begins(x, all.At), instant.Clock(x.Until, all.At))
	if len(ids) > 0 {
		fmt.Fprintln(s.out, "jobs that ask for it and could no longer start:", someJobs(ids))
	}
	fmt.Fprintln(s.out, "nothing was changed; to do it: fairlead reserve", name, "--cancel")
	return nil
}
