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

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// bridgeKind is a kind of queueing system that has a bridge.
type bridgeKind struct {
	name, system string // name of the command and of the node; name of the system in answers
	long         string // details for --help
	example      string
	options      []config.BridgeOption // flags, and fields of options in the file
	// levels returns the priorities of n levels, beginning with the back. Nil: 0, 1, 2, ...
	levels func(n int) []int64
	// open creates the adapter. The function "get" returns the value of an option. The adapter reports to away when the
	// queueing system does not answer.
	open func(ctx context.Context, get func(name string) string, log *slog.Logger, away *wait.Outage) (bridge.QS, error)
}

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

// completeWords makes a shell complete the value of a flag with these words.
func completeWords(c *cobra.Command, flag string, words ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("fairlead: " + err.Error())
	}
}

// option adds the flag of an option. The flag overrides the file.
func (b *bridgeCmd) option(f *pflag.FlagSet, o config.BridgeOption) {
	f.Func(o.Name, usageText(o.Doc)+defaultText(o.Default), func(text string) error { b.values[o.Name] = text; return nil })
}

// usageText makes the help of a flag from the description of an option. A first word such as URL keeps its
// case.
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

// get returns a function that gives the value of an option: from its flag, from the file, or the default.
func (b *bridgeCmd) get(file *config.Bridge) (func(name string) string, error) {
	values := map[string]string{}
	for _, o := range b.kind.options {
		values[o.Name] = cmp.Or(b.values[o.Name], file.Options[o.Name], o.Default)
		if o.Must && values[o.Name] == "" {
			return nil, usagef("--%s is missing: give the flag, or put {options: {%s: VALUE}} into the file of --config; "+
				"the value: %s", o.Name, o.Name, o.Doc)
		}
	}
	return func(name string) string { return values[name] }, nil
}

// settings reads the file and applies the flags over it.
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

// distinct is the value of a flag in which each name may occur once.
type distinct struct {
	pflag.Value
	seen map[string]bool
}

// once refuses names that occur twice in a flag; without it the last value would count.
func once(f *pflag.FlagSet, flag string) {
	x := f.Lookup(flag)
	x.Value = &distinct{x.Value, map[string]bool{}}
}

// Set adds a value, which may hold several names.
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

// overriding returns the settings of the flags, nil if there are none. It parses them as a file, so that the
// same checks apply.
func (b *bridgeCmd) overriding(c *cobra.Command) (*config.Bridge, error) {
	var lines, flags []string // the lines of that file, and the flag of each line
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

// flags checks the flags, except those of groups and of the queueing system.
func (b *bridgeCmd) flags() (*slog.Logger, error) {
	log, err := b.logTo(b.logLevel, b.logFormat)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkNode(b.name, "node"), checkDrain(b.drain)); err != nil {
		return nil, err
	}
	var bad *queue.Invalid
	if errors.As(engine.CheckLabels(b.labels), &bad) {
		return nil, usagef("--label: %s", bad.Msg)
	}
	if b.json && !b.check {
		return nil, usagef("--json needs --check; for a log in JSON, use --log-format json")
	}
	return log, nil
}

// carry runs the bridge until ctx is done.
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
		fmt.Fprintf(b.errs, "waiting for at most %v for tasks in %s; press Ctrl-C again to end at once\n", o.Drain, o.System)
	}
	return drained(ended)
}
