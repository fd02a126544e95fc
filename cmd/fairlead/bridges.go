package main

import (
	"cmp"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/wait"
)

// bridgeKinds lists all kinds of bridges.
var bridgeKinds = []bridgeKind{queueBridge, slurmBridge, beanstalkdBridge, rabbitBridge}

func bridgeCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "bridge KIND", Short: "Put fair share in front of another queueing system",
		Long: `Put fair share in front of an existing queueing system: the bridge takes jobs that are
submitted to the server, submits them to that system and follows them until they end. With
--feed at-once it submits each job at once: to the front if the job's fair-share group (--group) has
used less than its share, otherwise to the back; jobs of priority groups (--above) go before both.
With --feed just-in-time the bridge holds jobs back until a slot is free, and the server's policy decides
their order.`,
		RunE: func(_ *cobra.Command, args []string) error {
			var names []string
			for _, k := range bridgeKinds {
				names = append(names, k.name)
			}
			if len(args) > 0 {
				return usagef("unknown queueing system %q; known: %s", args[0], strings.Join(names, ", "))
			}
			return usagef("the queueing system is missing; add one of: %s", strings.Join(names, ", "))
		},
	}
	for _, kind := range bridgeKinds {
		c.AddCommand(bridgeTo(a, kind))
	}
	c.AddCommand(bridgeWorkerCommand(a))
	return c
}

func bridgeTo(a *app, kind bridgeKind) *cobra.Command {
	b := &bridgeCmd{app: a, kind: kind, values: map[string]string{}}
	c := &cobra.Command{
		Use:   kind.name + " [flags]",
		Short: "Put fair share in front of " + strings.Replace(kind.system, "the other queue", "another fairlead server", 1),
		Long: kind.long + `

Before the bridge sends a submission, it writes the submission into a ledger in its directory. After
any exit, start the bridge again with the same name and directory: it continues with the jobs that it
had. Ctrl-C ends it after the time of --drain and leaves the jobs where they are.`,
		Example: kind.example, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.run(c) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&b.file, "config", "", "file with groups and other settings, see docs/reference/bridge.md; flags override it")
	f.StringVar(&b.feed, "feed", config.FeedAtOnce, "at-once or just-in-time")
	f.StringToStringVar(&b.groups, "group", nil, "fair-share groups with their weights, e.g. physics=50,biology=30; each group uses the pool of the same name")
	once(f, "group")
	f.StringSliceVar(&b.above, "above", nil, "priority groups, the highest first")
	f.StringVar(&b.halfLife, "half-life", "7d", "time after which the usage of a group counts half")
	f.Int64Var(&b.slots, "slots", 0,
		"maximum amount of work that the bridge has in the other system at a time, in the server's unit (default: 1 with "+
			"just-in-time, else 1,000,000)")
	for _, o := range kind.options {
		b.option(f, o)
	}
	f.BoolVar(&b.check, "check", false, "show how the queueing system handles priorities, and exit")
	f.BoolVar(&b.json, "json", false, "with --check: print JSON")
	f.StringVar(&b.name, "name", kind.name, "name of the bridge as a node of the server")
	f.StringVar(&b.dir, "dir", "", "directory for the ledger and output (default: "+stateDir("bridge", "NAME")+")")
	f.BoolVar(&b.takeOver, "take-over", false, "take over the name of a bridge whose ledger is lost; its jobs are submitted again")
	f.StringToStringVar(&b.labels, "label", nil, "labels for constraints of jobs; bridge="+kind.name+" is set automatically")
	once(f, "label")
	f.DurationVar(&b.drain, "drain", 0, "how long to wait at exit for jobs in the queueing system")
	f.StringVar(&b.logLevel, "log", "info", "debug, info, warn or error")
	f.StringVar(&b.logFormat, "log-format", "text", "text or json")
	completeWords(c, "feed", config.FeedAtOnce, config.FeedJustInTime)
	completeWords(c, "log", "debug", "info", "warn", "error")
	completeWords(c, "log-format", "text", "json")
	return c
}

func (b *bridgeCmd) run(c *cobra.Command) error {
	log, err := b.flags()
	if err != nil {
		return err
	}
	s, err := b.settings(c)
	if err != nil {
		return err
	}
	get, err := b.get(s)
	if err != nil {
		return err
	}
	o := bridge.Options{
		System: b.kind.system, Name: b.name, Dir: cmp.Or(b.dir, stateDir("bridge", b.name)), Version: version, Host: hostname(),
		Logger: log, Labels: map[string]string{"bridge": b.kind.name}, Slots: s.Slots, Resources: s.Resources,
		Poll: s.Poll, Lease: s.Lease, Batch: s.Batch, Drain: b.drain, TakeOver: b.takeOver,
	}
	maps.Copy(o.Labels, b.labels)
	if err := b.feeds(&o, s); err != nil {
		return err
	}
	ctx := c.Context()
	o.Away = wait.NewOutage(log, b.kind.system+" does not answer", b.kind.system+" answers again").Refuses(b.kind.system + " answers, but refuses")
	if o.QS, err = b.kind.open(ctx, get, log, o.Away); err != nil {
		return err
	}
	defer o.QS.Close()
	if b.check {
		return b.checked(ctx, &o)
	}
	if err := b.warn(ctx, &o); err != nil {
		return err
	}
	return b.with(func(client *api.Client) error {
		o.Client = client
		return b.carry(ctx, o)
	})
}
