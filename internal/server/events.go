package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/quota"
)

type eventsInput struct {
	Job  int64  `query:"job" doc:"Events of this job only"`
	User string `query:"user" doc:"Events of this user's jobs only"`
}

// alive is sent when there are no events, so that both ends notice a dead connection.
type alive struct {
	At time.Time `json:"at"`
}

// eventService streams events as they happen.
type eventService struct {
	loop    *engine.Loop
	streams quota.Quota // of the users who follow the events
}

func newEventService(loop *engine.Loop) *eventService {
	s := &eventService{loop: loop}
	s.streams = quota.Quota{All: maxStreams, Reserved: maxStreams / 8, User: maxStreams / 8}
	return s
}

func (s *eventService) routes(a huma.API) {
	sse.Register(a, huma.Operation{
		OperationID: "events", Method: http.MethodGet, Path: "/v1/events", Summary: "Events, live (server-sent events)", Tags: []string{"cluster"},
		Middlewares: huma.Middlewares{s.boundStreams},
	}, map[string]any{"event": api.Event{}, "alive": alive{}}, s.events)
}

// maxStreams is how many clients may follow the events at once. One user gets at most an eighth of the places, and
// another eighth is for administrators.
const maxStreams = 2000

// boundStreams refuses streams above the limit.
func (s *eventService) boundStreams(ctx huma.Context, next func(huma.Context)) {
	you := who(ctx.Context())
	err := s.streams.Take(holderOf(&you), you.Admin)
	if err == nil {
		defer s.streams.Give(holderOf(&you))
		next(ctx)
		return
	}
	many := maxStreams
	if errors.Is(err, quota.ErrUser) {
		many = s.streams.User
	}
	_, w := humago.Unwrap(ctx)
	api.WriteBusy(w, fmt.Sprintf("%d programs follow the events, and %v: end some, or poll the jobs (GET /v1/jobs)", many, err))
}

func (s *eventService) events(ctx context.Context, in *eventsInput, send sse.Sender) {
	watch := s.loop.Watch()
	defer watch.Close()
	tick := time.NewTicker(15 * time.Second)
	defer tick.Stop()
	if send.Data(alive{time.Now()}) != nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if send.Data(alive{time.Now()}) != nil {
				return
			}
		case e := <-watch.C:
			if in.Job > 0 && e.Job != in.Job || in.User != "" && e.User != in.User {
				continue
			}
			if send.Data(api.FromEvent(e)) != nil {
				return
			}
		}
	}
}
