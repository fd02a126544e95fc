package main

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/words"
)

// Shells complete the ids of jobs and the names of pools, nodes, users and reservations. The usage line of a command,
// such as "cancel (JOB... | -u USER)", says which things the arguments name. The name of a flag says which thing its
// value names.

// completionTime is how long a shell waits for the server. Without an answer it completes nothing.
const completionTime = 2 * time.Second

// completionJobs is the largest number of jobs that a shell offers, the newest first.
const completionJobs = 200

// things asks the server for all things of one kind. A tab separates the name of a thing from its description.
type things func(context.Context, *api.Client) ([]string, error)

// argumentThings has the things by their word in a usage line.
var argumentThings = map[string]things{
	"JOB": jobIDsOf, "POOL": poolPaths, "NODE": nodeNames, "USER": userNames, "NAME": reservationNames,
}

// flagThings has the things by the name of a flag.
var flagThings = map[string]things{
	"pool": poolPaths, "move-to": poolPaths, "user": userNames, "as": userNames, "reservation": reservationNames,
	"after": jobIDsOf, "vs": jobIDsOf, "nodes": nodeNames,
}

var (
	// notAlone matches a flag, or the word node, with the values behind it in a usage line.
	notAlone = regexp.MustCompile(`(--?[A-Za-z-]+|\bnode)( [A-Z]+)+`)
	// ofThings matches arguments that name a thing.
	ofThings = regexp.MustCompile(`\b(JOB|POOL|NODE|USER|NAME)\b`)
	// ofFiles matches arguments that name a file.
	ofFiles = regexp.MustCompile(`\b(FILE|OTHER|TRACE|SCRIPT|COMMAND|ARG)\b`)
)

// completeAll lets shells complete the arguments and flags of a command and of those below it.
func (a *app) completeAll(c *cobra.Command) {
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = a.completeArguments
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		list := flagThings[f.Name]
		if kind := f.Value.Type(); list == nil || kind != "string" && kind != "stringSlice" {
			return
		}
		if _, has := c.GetFlagCompletionFunc(f.Name); has {
			return
		}
		if err := c.RegisterFlagCompletionFunc(f.Name, a.completeFlag(list)); err != nil {
			panic("fairlead: " + err.Error())
		}
	})
	for _, sub := range c.Commands() {
		a.completeAll(sub)
	}
}

// completeArguments completes the arguments of a command: none of them twice, and only the first one if the command
// takes no list. It reads the usage line only now, because most runs of the program complete nothing.
func (a *app) completeArguments(c *cobra.Command, args []string, _ string) (all []cobra.Completion,
	_ cobra.ShellCompDirective) {
	if ofFiles.MatchString(c.Use) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if len(args) == 1 && args[0] == "node" && strings.Contains(c.Use, "node NODE") {
		return a.ask(c.Context(), nodeNames), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	usage := notAlone.ReplaceAllString(c.Use, "")
	// permit names a node that is not there yet.
	if c.Name() == "permit" || len(args) > 0 && !strings.Contains(usage, "...") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, kind := range ofThings.FindAllString(usage, -1) {
		list := argumentThings[kind]
		if kind == "JOB" && slices.Contains(ofLiveJobs, c.Name()) {
			list = liveJobs
		}
		all = append(all, a.ask(c.Context(), list)...)
	}
	return besides(args, all), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// besides leaves out repeated things, and things that are already there.
func besides(there, all []string) []string {
	seen := map[string]bool{}
	for _, name := range there {
		seen[name] = true
	}
	return slices.DeleteFunc(all, func(one string) bool {
		name, _, _ := strings.Cut(one, "\t")
		was := seen[name]
		seen[name] = true
		return was
	})
}

// completeFlag completes the last of the comma-separated values of a flag; "ok:" may precede a job.
func (a *app) completeFlag(list things) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndexAny(begun, ",:")+1]
		all := besides(strings.Split(before, ","), a.ask(c.Context(), list))
		for i := range all {
			all[i] = before + all[i]
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// ask returns nothing if the server does not answer, because a shell that completes a line has no place for an error.
func (a *app) ask(ctx context.Context, list things) (all []string) {
	ctx, cancel := context.WithTimeout(cmp.Or(ctx, context.Background()), completionTime)
	defer cancel()
	a.with(func(client *api.Client) (err error) {
		all, err = list(ctx, client)
		return err
	})
	for i := range all {
		name, about, _ := strings.Cut(all[i], "\t")
		all[i] = plain.Line(name)
		if about != "" {
			all[i] += "\t" + plain.Line(about)
		}
	}
	return all
}

func jobIDsOf(ctx context.Context, client *api.Client) ([]string, error) {
	return listJobs(ctx, client, func(*api.Job) bool { return true })
}

// ofLiveJobs are commands for jobs that have not ended.
var ofLiveJobs = []string{"cancel", "hold", "release", "alter", "prio"}

func liveJobs(ctx context.Context, client *api.Client) ([]string, error) {
	return listJobs(ctx, client, func(j *api.Job) bool { return !words.Done(j.State) })
}

func listJobs(ctx context.Context, client *api.Client, wanted func(*api.Job) bool) (all []string, _ error) {
	doc, err := client.Jobs.List(ctx, url.Values{"newest": {"true"}, "limit": {strconv.Itoa(completionJobs)}})
	if err != nil {
		return nil, err
	}
	for i := range doc.Jobs {
		if j := &doc.Jobs[i]; wanted(j) {
			all = append(all, strconv.FormatInt(j.ID, 10)+"\t"+strings.Join([]string{j.User, j.State, j.Name}, " "))
		}
	}
	return all, nil
}

func poolPaths(ctx context.Context, client *api.Client) (all []string, _ error) {
	doc, err := client.Pools.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	for i := range doc.Pools {
		if path := doc.Pools[i].Path; path != "" {
			all = append(all, path)
		}
	}
	return all, nil
}

func nodeNames(ctx context.Context, client *api.Client) (all []string, _ error) {
	doc, err := client.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	for i := range doc.Nodes {
		all = append(all, doc.Nodes[i].Name+"\t"+doc.Nodes[i].State)
	}
	return all, nil
}

// userNames are the users of the present jobs.
func userNames(ctx context.Context, client *api.Client) (all []string, _ error) {
	doc, err := client.Jobs.List(ctx, url.Values{})
	if err != nil {
		return nil, err
	}
	for i := range doc.Jobs {
		all = append(all, doc.Jobs[i].User)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func reservationNames(ctx context.Context, client *api.Client) (all []string, _ error) {
	doc, err := client.Nodes.Reservations(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range doc.Reservations {
		all = append(all, r.Name)
	}
	return all, nil
}
