package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// statusService reports facts about the server, and whether it works.
type statusService struct {
	loop      *engine.Loop
	store     queue.Store
	config    Configuration
	addresses *addresses
	program   string
	storeName string
	started   time.Time
}

func (s *statusService) routes(a huma.API) {
	handle(a, http.MethodGet, "/v1/status", "status", "The state of the server", 0, alone(s.Status))
}

func (s *statusService) Status(ctx context.Context) (*api.ServerStatus, error) {
	st := s.loop.Stats()
	c := s.config.Status()
	c.Text = ""
	out := api.ServerStatus{
		Version: api.Version, Program: s.program, At: time.Now(), Started: s.started, Store: s.storeName,
		Config: c, Summary: summaryOf(s.loop), Steps: st.Steps, TasksStarted: st.Started, TasksFinished: st.Finished,
		TasksLost: st.Lost, StepSeconds: st.StepTime.Seconds(), LastError: st.LastError, You: actorOf(who(ctx)),
		Listen: s.addresses.every(), LeaseSeconds: s.loop.LeaseTTL().Seconds(),
	}
	if !st.ErrorAt.IsZero() {
		out.LastErrorAt = &st.ErrorAt
	}
	if p, err := s.loop.Pulse(ctx); err == nil {
		out.StoreSeconds, out.CaughtUpSeconds, out.StepsPerSecond, out.StartsPerSecond = p.Store.Seconds(), p.CaughtUp.Seconds(), p.Steps, p.Starts
	}
	return &out, nil
}

// summaryOf returns a few numbers about the capacity, the running and the waiting tasks of a loop.
func summaryOf(loop *engine.Loop) api.Summary {
	capacity, free, unit := loop.Capacity()
	running, waiting := loop.Running()
	out := api.Summary{Waiting: waiting, Queued: views.Queued(loop), Running: running, Unit: unit, Capacity: capacity, Free: free,
		Endless: views.Endless(loop), Away: views.Away(loop)}
	st := loop.Stats()
	if out.Started = st.Started; !st.LastStep.IsZero() {
		out.LastStep = &st.LastStep
	}
	return out
}

// ready answers whether the store works.
func (s *statusService) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if _, err := s.store.Jobs(ctx, queue.Query{Limit: 1, Newest: true}); err != nil {
		text := "the store does not answer"
		if me := who(ctx); me.Known() {
			text += ": " + err.Error()
		}
		http.Error(w, text, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
