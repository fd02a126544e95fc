package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
)

// bridgeKind is a kind of queueing system to which there are bridges.
type bridgeKind struct {
	name, system string // of the command and the node; and in answers
	long         string // what is particular to it, for --help
	example      string
	options      []config.BridgeOption // flags, and fields of options in the file
	// levels are the priorities of so many levels, from the back up. Nil: 0, 1, 2, ...
	levels func(n int) []int64
	// open makes the adapter; get is the value of an option.
	// It tells away when the queueing system does not answer.
	open func(ctx context.Context, get func(name string) string, log *slog.Logger, away *bridge.Outage) (bridge.QS, error)
}

// bridgeKinds are all kinds.
var bridgeKinds = []bridgeKind{queueBridge, slurmBridge, beanstalkdBridge, rabbitBridge}

// bridgeCmd is one run of a bridge.
type bridgeCmd struct {
	*app
	kind                   bridgeKind
	file, name, dir        string
	logLevel, logFormat    string
	labels, groups, values map[string]string
	above                  []string
	feed                   string
	slots                  int64
	halfLife               string
	drain                  time.Duration
	check, json, takeOver  bool
}

func (a *app) bridgeCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "bridge KIND", Short: "Put fair share in front of another queueing system",
		Long: `Put fair share in front of a queueing system that is there already: jobs that are submitted
to the server go into that system, and are followed there to their end. With --feed at-once
each goes in at once, to the front, to the back or above both, as its group has received its
fraction or not. With --feed just-in-time jobs are kept back until a slot is free, and go in
the order of the server, by whatever policy that has.`,
		RunE: func(_ *cobra.Command, args []string) error {
			var names []string
			for _, k := range bridgeKinds {
				names = append(names, k.name)
			}
			return usagef("which queueing system? fairlead bridge %s", strings.Join(names, ", or fairlead bridge "))
		},
	}
	for _, kind := range bridgeKinds {
		c.AddCommand(a.bridgeTo(kind))
	}
	c.AddCommand(a.bridgeWorkerCommand())
	return c
}

func (a *app) bridgeTo(kind bridgeKind) *cobra.Command {
	b := &bridgeCmd{app: a, kind: kind, values: map[string]string{}}
	c := &cobra.Command{
		Use: kind.name + " [flags]", Short: "Put fair share in front of " + kind.system,
		Long: kind.long + `

What the bridge submits is in a ledger in its directory before it is sent. A bridge that ends,
however it ends, is started again with the same name and directory, and goes on with what
it had. Ctrl-C ends it and leaves the jobs where they are, after the time of --drain.`,
		Example: kind.example, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return b.run(c) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&b.file, "config", "", "file with groups and all else, see docs/reference/bridge.md; flags go before it")
	f.StringVar(&b.feed, "feed", config.FeedAtOnce, "at-once or just-in-time")
	f.StringToStringVar(&b.groups, "group", nil, "fair-share groups with their weights, e.g. physics=50,biology=30; a group has the pool that is called as it")
	once(f, "group")
	f.StringSliceVar(&b.above, "above", nil, "priority groups, the highest first")
	f.StringVar(&b.halfLife, "half-life", "7d", "after this time, what a group received counts half")
	f.Int64Var(&b.slots, "slots", 0, "how much it may have at a time, in the server's unit (default: just in time 1, else 1,000,000)")
	for _, o := range kind.options {
		b.option(f, o)
	}
	f.BoolVar(&b.check, "check", false, "say what the queueing system does with priorities, and end")
	f.BoolVar(&b.json, "json", false, "with --check: print JSON")
	f.StringVar(&b.name, "name", kind.name, "name of the node as which it joins the server")
	f.StringVar(&b.dir, "dir", "", "directory for the ledger and output (default: "+stateDir("bridge", "NAME")+")")
	f.BoolVar(&b.takeOver, "take-over", false, "join under a name whose ledger is lost; what that had is submitted once more")
	f.StringToStringVar(&b.labels, "label", nil, "labels for constraints of jobs; bridge="+kind.name+" is there by itself")
	once(f, "label")
	f.DurationVar(&b.drain, "drain", 0, "how long to wait at the end for what is in the queueing system")
	f.StringVar(&b.logLevel, "log", "info", "debug, info, warn or error")
	f.StringVar(&b.logFormat, "log-format", "text", "text or json")
	completeWords(c, "feed", config.FeedAtOnce, config.FeedJustInTime)
	completeWords(c, "log", "debug", "info", "warn", "error")
	completeWords(c, "log-format", "text", "json")
	return c
}

// completeWords lets a shell complete the value of a flag.
func completeWords(c *cobra.Command, flag string, words ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("fairlead: " + err.Error())
	}
}

// option adds the flag of an option. What is given goes before the file.
func (b *bridgeCmd) option(f *pflag.FlagSet, o config.BridgeOption) {
	f.Func(o.Name, usageText(o.Doc)+defaultText(o.Default), func(text string) error { b.values[o.Name] = text; return nil })
}

// usageText is the description of an option as that of a flag. A word such as URL stays as it is.
func usageText(doc string) string {
	if len(doc) > 1 && unicode.IsLower(rune(doc[1])) {
		doc = strings.ToLower(doc[:1]) + doc[1:]
	}
	return strings.TrimSuffix(doc, ".")
}

func defaultText(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (default: %s)", text)
}

// get is the value of an option: of its flag, of the file, or the default.
func (b *bridgeCmd) get(file *config.Bridge) (func(name string) string, error) {
	values := map[string]string{}
	for _, o := range b.kind.options {
		values[o.Name] = cmp.Or(b.values[o.Name], file.Options[o.Name], o.Default)
		if o.Must && values[o.Name] == "" {
			return nil, usagef("--%s has to be given, or options: {%s: ...} in the file: %s", o.Name, o.Name, o.Doc)
		}
	}
	return func(name string) string { return values[name] }, nil
}

// settings reads the file and puts the flags over it.
func (b *bridgeCmd) settings(c *cobra.Command) (*config.Bridge, error) {
	var s *config.Bridge
	var err error
	if b.file == "" {
		s, err = config.ParseBridge("flags", nil, b.kind.options)
	} else {
		s, err = config.LoadBridge(b.file, b.kind.options)
	}
	var found config.Problems
	if errors.As(err, &found) {
		fmt.Fprint(b.errs, found.Text())
		return nil, exit(api.ExitUsage)
	} else if err != nil {
		return nil, usageError{err}
	}
	fmt.Fprint(b.errs, s.Problems.Text())
	over, err := b.overriding(c)
	if err != nil || over == nil {
		return s, err
	}
	over.Over(s)
	return s, nil
}

// distinct is the value of a flag in which each name may have one value only.
type distinct struct {
	pflag.Value
	seen map[string]bool
}

// once makes names that come twice in a flag an error, where the last would count.
func once(f *pflag.FlagSet, flag string) {
	x := f.Lookup(flag)
	x.Value = &distinct{x.Value, map[string]bool{}}
}

// Set takes what is given, which may be several names at once.
func (d *distinct) Set(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		name, _, _ := strings.Cut(pair, "=")
		if d.seen[name] {
			return fmt.Errorf("%q is given twice", name)
		}
		d.seen[name] = true
	}
	return d.Value.Set(text)
}

// overriding is what the flags say, nil if they say nothing. It is read as the file would be, so that
// it is checked alike.
func (b *bridgeCmd) overriding(c *cobra.Command) (*config.Bridge, error) {
	var lines, flags []string // of what would be a file, and whence they come
	say := func(flag, format string, args ...any) {
		if c.Flags().Changed(strings.Fields(flag)[0]) {
			lines, flags = append(lines, fmt.Sprintf(format, args...)), append(flags, flag)
		}
	}
	say("feed", "feed: %q", b.feed)
	say("half-life", "half_life: %q", b.halfLife)
	say("slots", "slots: %d", b.slots)
	say("above", "above: [%s]", quotedWords(b.above))
	say("group", "groups:")
	for _, name := range slices.Sorted(maps.Keys(b.groups)) {
		say("group "+name, "  %q: {weight: %s}", name, b.groups[name])
	}
	if len(lines) == 0 {
		return nil, nil
	}
	over, err := config.ParseBridge("flags", []byte(strings.Join(lines, "\n")), nil)
	var found config.Problems
	if errors.As(err, &found) {
		flag := flags[min(max(found[0].Line, 1), len(flags))-1]
		return nil, usagef("--%s: %s", flag, strings.TrimPrefix(found[0].Msg, "half_life: "))
	}
	fmt.Fprint(b.errs, over.Problems.Text())
	return over, nil
}

func quotedWords(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, strconv.Quote(w))
	}
	return strings.Join(all, ", ")
}

// flags checks those that say nothing of groups and of the queueing system.
func (b *bridgeCmd) flags() (*slog.Logger, error) {
	log, err := b.logTo(b.logLevel, b.logFormat)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkNode(b.name, "node"), checkDrain(b.drain)); err != nil {
		return nil, err
	}
	var bad *fairlead.Invalid
	if errors.As(fairlead.CheckLabels(b.labels), &bad) {
		return nil, usagef("--label: %s", bad.Msg)
	}
	if b.json && !b.check {
		return nil, usagef("--json goes with --check: a bridge that runs prints its log, for which there is --log-format json")
	}
	return log, nil
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
	o.Away = bridge.NewOutage(log, b.kind.system+" does not answer", b.kind.system+" answers again").Refuses(b.kind.system + " answers, and refuses")
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

// carry runs the bridge until it is told to end.
func (b *bridgeCmd) carry(ctx context.Context, o bridge.Options) error {
	o.Joined = func() {
		how := "jobs are fed just in time"
		if o.Groups != nil {
			how = fmt.Sprintf("%d groups, %d above", len(o.Groups.Settings.Groups), len(o.Groups.Priority))
		}
		fmt.Fprintf(b.out, "bridge %s joined %s: %s\n", o.Name, o.Client.Address, how)
	}
	ended := make(chan error, 1)
	go func() { ended <- bridge.Run(ctx, o) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if o.Drain > 0 {
		fmt.Fprintf(b.errs, "waiting for at most %v for what is in %s; again Ctrl-C ends at once\n", o.Drain, o.System)
	}
	return drained(ended)
}
