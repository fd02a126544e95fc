package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/why"
)

// feeds sets where jobs go: to levels by their groups, or all to one level.
func (b *bridgeCmd) feeds(o *bridge.Options, s *config.Bridge) error {
	levels := s.Levels
	if n := 2 + len(s.Above); len(levels) == 0 && b.kind.levels != nil {
		levels = b.kind.levels(n)
	}
	if s.Feed == config.FeedJustInTime {
		if o.Level = s.Level; !s.Given("level") && len(levels) > 1 {
			o.Level = levels[1]
		}
		return nil
	}
	g, err := bridgeGroups(s, levels)
	if err != nil {
		return err
	}
	o.Groups = g
	return nil
}

// bridgeGroups builds the groups from the settings of the file and the flags.
func bridgeGroups(s *config.Bridge, levels []int64) (*bridge.Groups, error) {
	if len(s.Groups)+len(s.Above) == 0 {
		return nil, usagef("there are no groups: name them with --group physics=50,biology=30 or in a file, or choose --feed just-in-time")
	}
	benefit, err := frontback.Builtin().New(s.Benefit.Function, frontback.Parameters{Amount: s.Benefit.Amount, Weights: s.Benefit.Weights, Groups: s.Benefit.Groups})
	if err != nil {
		return nil, usageError{err}
	}
	g := &bridge.Groups{
		Settings: frontback.Settings{
			Priority: s.Above, Levels: levels, Benefit: benefit, Window: s.Window, HalfLife: s.HalfLife,
			AtStart: s.Charge == config.ChargeStart, KeepFailed: s.KeepFailed,
		},
		Pools: map[string][]string{}, Estimate: s.Estimate,
	}
	for _, x := range s.Groups {
		g.Settings.Groups = append(g.Settings.Groups, frontback.Group{Name: x.Name, Weight: x.Weight})
		g.Pools[x.Name] = x.Pools
	}
	if _, err := frontback.New(g.Settings); err != nil {
		return nil, usageError{err}
	}
	return g, nil
}

// described asks the queueing system for its properties, and returns them with the doubts that follow from
// them.
func described(ctx context.Context, o *bridge.Options) (frontback.Queue, []frontback.Doubt, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	q, err := o.QS.Describe(ctx)
	if err != nil {
		return q, nil, err
	}
	if o.Groups == nil {
		return q, nil, nil
	}
	return q, o.Groups.Doubts(q), nil
}

// warn prints doubts that the groups receive their fractions. If the queueing system does not answer yet, the
// bridge starts all the same.
func (b *bridgeCmd) warn(ctx context.Context, o *bridge.Options) error {
	_, doubts, err := described(ctx, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		o.Away.Fail(err)
	}
	for _, d := range doubts {
		fmt.Fprintf(b.errs, "warning: %s\n", d.Text)
	}
	return nil
}

// checked prints how the queueing system handles priorities, and whether that suits the groups.
func (b *bridgeCmd) checked(ctx context.Context, o *bridge.Options) error {
	q, doubts, err := described(ctx, o)
	if errors.Is(err, api.ErrUnreachable) { // the advice differs from the advice for fairlead's own server
		fmt.Fprintln(b.errs, "fairlead:", err)
		return exit(api.ExitUnreachable)
	} else if err != nil {
		return err
	}
	broken := false
	for _, d := range doubts {
		broken = broken || d.Broken
	}
	answer := map[frontback.Answer]string{frontback.Unknown: "unknown", frontback.No: "no", frontback.Yes: "yes"}
	if b.json {
		texts := []map[string]any{}
		for _, d := range doubts {
			texts = append(texts, map[string]any{"broken": d.Broken, "text": d.Text})
		}
		err = b.printJSON(map[string]any{
			"version": api.Version, "kind": b.kind.name, "name": q.Name, "ages": answer[q.Ages], "obeys": answer[q.Obeys],
			"lowest": q.Lowest, "highest": q.Highest, "small_first": q.SmallFirst, "ok": !broken, "doubts": texts, "notes": append([]string{}, q.Notes...),
		})
	} else {
		t := table.New(table.Column{Name: "CHECK"}, table.Column{Name: "RESULT"})
		t.Row("queueing system", q.Name)
		t.Row("changes priorities on its own", answer[q.Ages])
		t.Row("obeys the bridge's priorities", answer[q.Obeys])
		limits := "any"
		if q.Lowest != 0 || q.Highest != 0 {
			limits = fmt.Sprintf("%d to %d", q.Lowest, q.Highest)
		}
		t.Row("range of priorities", limits)
		for _, d := range doubts {
			if d.Broken {
				t.Row("BROKEN", d.Text)
			} else {
				t.Row("not sure", d.Text)
			}
		}
		for _, text := range q.Notes {
			t.Row("note", text)
		}
		if o.Groups == nil {
			t.Row("fractions and groups", "decided by the server: all jobs have the same priority here")
		} else if len(doubts) == 0 {
			t.Row("fractions and groups", "no problem found")
		}
		err = t.Print(b.out)
	}
	if err == nil && broken {
		err = exit(api.ExitRefused)
	}
	return err
}

// verifyBridged recomputes the decisions of bridges about tasks.
func verifyBridged(all []why.Bridged) []why.Check {
	var checks []why.Check
	for _, b := range all {
		if len(b.Decision) == 0 {
			continue
		}
		var d frontback.Decision
		if err := json.Unmarshal(b.Decision, &d); err != nil {
			checks = append(checks, why.Check{What: "bridge", Text: fmt.Sprintf("cannot read the decision about task %d: %v", b.Number, err)})
			continue
		}
		for _, c := range frontback.Verify(&d) {
			c.What = fmt.Sprintf("bridge, %d: %s", b.Number, c.What)
			checks = append(checks, c)
		}
	}
	return checks
}
