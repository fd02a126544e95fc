package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/onestep"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

func stepCommand(a *app) *cobra.Command {
	var configFile, stateFile string
	var asJSON bool
	c := &cobra.Command{
		Use:   "step --state STATE.json [--config FILE]",
		Short: "Run one scheduling step on a given state",
		Long: `Run one scheduling step on a state that you wrote, under a configuration, and show which tasks
would start, in which order, and why. The command uses the scheduler of the server,
but needs no server.

  {"now": "2026-01-05T08:00:00Z", "seed": 1, "capacity": {"slots": 10},
   "pools": {"physics/ann": {"running": 2, "waiting": 30, "used": 120},
             "biology": {"running": 0, "waiting": 5}}}

used is the decayed service of a pool, in slot-seconds. Each waiting task needs one slot. A
pool can also list its waiting jobs one by one, because some policies compare the jobs
themselves. All of the fields of a job but the id are optional:

  "jobs": [{"id": 7, "submitted": "2026-01-04T08:00:00Z", "tasks": 1, "request": {"slots": 4},
            "priority": "high", "qos": "high", "nice": 10, "limit": "2h", "user": "ann"}]`,
		Example: "  fairlead step --config fairlead.yaml --state state.json --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if stateFile == "" {
				return usagef("--state is missing: the file that holds the state, or - for standard input")
			}
			cfg := config.Default()
			if configFile != "" {
				var err error
				if cfg, err = loadConfig(a, configFile); err != nil {
					return err
				}
			}
			text, err := readFile(a.in, stateFile)
			if err != nil {
				return usageError{err}
			}
			state, err := onestep.Read(text)
			if err != nil {
				return usageError{fmt.Errorf("%s: %w", stateFile, err)}
			}
			r, err := onestep.Run(cfg.Shares, state)
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return a.printJSON(r)
			}
			return printStep(a.out, r)
		},
	}
	f := c.Flags()
	f.StringVar(&configFile, "config", "", "configuration (default: the built-in one)")
	f.StringVar(&stateFile, "state", "", "the state, as JSON; - is standard input")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func readFile(in io.Reader, name string) ([]byte, error) {
	const most = 64 << 20
	if name == "-" {
		text, err := io.ReadAll(io.LimitReader(in, most+1))
		if err == nil && len(text) > most {
			err = fmt.Errorf("standard input has more than %d MiB; name a file instead", most>>20)
		}
		return text, err
	}
	return os.ReadFile(name)
}

func printStep(out io.Writer, r *onestep.Result) error {
	stops := false
	for _, p := range r.Pools {
		stops = stops || p.Stop > 0
	}
	columns := []table.Column{
		{Name: "POOL"}, {Name: "SHARE", Right: true}, {Name: "ENTITLED", Right: true},
		{Name: "USED", Right: true}, {Name: "RUN", Right: true}, {Name: "WAIT", Right: true},
		{Name: "KEY", Right: true}, {Name: "RANK", Right: true}, {Name: "START", Right: true},
	}
	if stops {
		columns = append(columns, table.Column{Name: "STOP", Right: true})
	}
	t := table.New(append(columns, table.Column{Name: "KEY COMES FROM"})...)
	for _, path := range r.Paths() {
		p := r.Pools[path]
		rank := "-"
		if p.Rank > 0 {
			rank = fmt.Sprint(p.Rank)
		}
		row := []any{words.Pool(path), percent(p.Share), oneDigit(p.FairNow), why.Short(p.Used), p.Running, p.Waiting, why.Short(float64(p.Key)), rank, p.Start}
		if stops {
			row = append(row, p.Stop)
		}
		t.Row(append(row, termsText(p))...)
	}
	if err := t.Print(out); err != nil {
		return err
	}
	printFormulas(out, r)
	order := make([]string, len(r.Order))
	for i, path := range r.Order {
		order[i] = words.Pool(path)
	}
	fmt.Fprintf(out, "%d %s idle · order of the next starts: %s\n", r.Idle, r.Unit, strings.Join(order, ", "))
	return printStepJobs(out, r.Jobs)
}

// termsText lists the terms of a key.
func termsText(p *onestep.PoolResult) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p.Terms)) {
		parts = append(parts, name+" "+why.Short(float64(p.Terms[name])))
	}
	text := strings.Join(parts, ", ")
	if p.Resource != "" {
		text = p.Resource + ": " + text
	}
	return text
}

// printFormulas explains the keys, once for each policy.
func printFormulas(out io.Writer, r *onestep.Result) {
	seen := map[string]bool{}
	for _, path := range r.Paths() {
		p := r.Pools[path]
		line := fmt.Sprintf("%s: key = %s, %s", p.Policy, p.Formula, p.Order)
		if !seen[line] {
			seen[line] = true
			fmt.Fprintln(out, line)
		}
	}
}
