package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
)

// aboutOrder finds the change of the order of starts if the jobs that the user may change had another
// priority.
func (a *Act) aboutOrder(ctx context.Context, src Source, r *Request) error {
	p := &priorities{Chosen: r.Word("priority")}
	a.Priorities = p
	var ids []int64
	for i := range a.Jobs {
		if v := &a.Jobs[i]; v.May {
			ids = append(ids, v.ID)
		}
	}
	if a.All != nil {
		ids = a.All.some
	}
	if p.Chosen != "" {
		a.Says = "Priority " + p.Chosen
	}
	if len(ids) == 0 {
		p.Order = &api.Reorder{}
		return nil
	}
	var err error
	if p.Order, err = src.Jobs.Reorder(ctx, api.ReorderRequest{Jobs: ids, Priority: p.Chosen}); err != nil {
		return err
	}
	for i := range a.Jobs {
		a.Jobs[i].Effect = p.effect(&a.Jobs[i])
	}
	return nil
}

// effect returns the effect of another priority on a job.
func (p *priorities) effect(v *victim) string {
	at := slices.IndexFunc(p.Order.Jobs, func(m forecast.Moved) bool { return m.Job == v.ID })
	switch {
	case queue.State(v.State).Ended():
		return "has ended already: nothing changes"
	case at < 0 && v.Waiting == 0 && v.Running > 0:
		return "runs already: nothing changes"
	case at < 0:
		return "has no rank now"
	}
	m := p.Order.Jobs[at]
	if m.Before == m.After || p.Chosen == "" {
		return p.place(m.Before)
	}
	return p.place(m.Before) + " → " + p.place(m.After)
}

// place names the position of a job in the order of starts.
func (p *priorities) place(n int64) string {
	switch {
	case n > 0:
		return "rank " + strconv.FormatInt(n, 10)
	case p.Order.Looked > 0:
		return fmt.Sprintf("behind the first %d", p.Order.Looked)
	}
	return "no rank"
}

// Moves names the positions of another job before and after.
func (p *priorities) Moves(m forecast.Moved) string {
	return p.place(m.Before) + " → " + p.place(m.After)
}

// Left returns the number of later jobs that are not listed.
func (p *priorities) Left() int { return p.Order.Later - len(p.Order.Others) }
