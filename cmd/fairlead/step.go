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
	"github.com/fairlead/fairlead/why"
)

func (a *app) stepCommand() *cobra.Command {
	var configFile, stateFile string
	var asJSON bool
	c := &cobra.Command{
		Use:   "step --state STATE.json [--config FILE]",
		Short: "Run one scheduling step on a state written by hand",
		Long: `Run one scheduling step on a state that you wrote, under a configuration: what would
start, in which order, and by which numbers. It is the scheduler of the server, and
needs none.

  {"now": "2026-01-05T08:00:00Z", "seed": 1, "capacity": {"slots": 10},
   "pools": {"physics/ann": {"running": 2, "waiting": 30, "used": 120},
             "biology": {"running": 0, "waiting": 5}}}

Each task needs one slot. used is the decayed service of a pool, in slot-seconds. For the
policy multifactor a pool may have jobs one by one, and all of theirs is optional but the
id:

  "jobs": [{"id": 7, "submitted": "2026-01-04T08:00:00Z", "tasks": 1, "request": {"slots": 4},
            "qos": "high", "nice": 10, "limit": "2h", "user": "ann"}]`,
		Example: "  fairlead step --config fairlead.yaml --state state.json --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if stateFile == "" {
				return usagef("--state is missing: the file that holds the state, or - for standard input")
			}
			cfg := config.Default()
			if configFile != "" {
				var err error
				if cfg, err = a.loadConfig(configFile); err != nil {
					return err
				}
			}
			text, err := a.readFile(stateFile)
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
			return a.printStep(r)
		},
	}
	f := c.Flags()
	f.StringVar(&configFile, "config", "", "configuration (default: the built-in one)")
	f.StringVar(&stateFile, "state", "", "the state, as JSON; - is standard input")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) readFile(name string) ([]byte, error) {
	const most = 64 << 20
	if name == "-" {
		return io.ReadAll(io.LimitReader(a.in, most))
	}
	return os.ReadFile(name)
}

func (a *app) printStep(r *onestep.Result) error {
	stops := false
	for _, p := range r.Pools {
		stops = stops || p.Stop > 0
	}
	columns := []table.Column{
		{Name: "POOL"}, {Name: "SHARE", Right: true}, {Name: "FAIR NOW", Right: true},
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
		row := []any{path, percent(p.Share), oneDigit(p.FairNow), why.Short(p.Used), p.Running, p.Waiting, why.Short(float64(p.Key)), rank, p.Start}
		if stops {
			row = append(row, p.Stop)
		}
		t.Row(append(row, termsText(p))...)
	}
	if err := t.Print(a.out); err != nil {
		return err
	}
	a.printFormulas(r)
	fmt.Fprintf(a.out, "%d %s idle · order of the next starts: %s\n", r.Idle, r.Unit, strings.Join(r.Order, ", "))
	return a.printStepJobs(r.Jobs)
}

// termsText lists the numbers of a key.
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

// printFormulas explains the keys: once for each policy that compared some.
func (a *app) printFormulas(r *onestep.Result) {
	seen := map[string]bool{}
	for _, path := range r.Paths() {
		p := r.Pools[path]
		line := fmt.Sprintf("%s: key = %s, %s", p.Policy, p.Formula, p.Order)
		if !seen[line] {
			seen[line] = true
			fmt.Fprintln(a.out, line)
		}
	}
}
