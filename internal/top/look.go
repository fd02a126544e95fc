package top

import (
	"context"
	"net/url"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/internal/words"
)

// seen is the answer of the server to one refresh.
type seen struct {
	shares *api.Shares
	jobs   *api.JobList
	next   bool // jobs are only the next ones to start
	nodes  *api.Nodes
	limits *api.Limits
	detail []string
	err    error

	began, ended time.Time
	of           question
}

// lookAtJobs requests all jobs that have not ended. If there are many, it requests only the running jobs and
// the next jobs to start.
func (v *seen) lookAtJobs(ctx context.Context, s source, pool string) error {
	q := url.Values{"rank": {"true"}, "start": {"true"}, "limit": {strconv.Itoa(maxJobs)},
		"state": {"held", "blocked", "waiting", "queued", "running"}}
	if pool != "" {
		q.Set("pool", pool)
	}
	list, err := s.Jobs(ctx, q)
	if err != nil {
		return err
	}
	if list.More {
		q.Set("next", "true")
		q.Del("state")
		if list, err = s.Jobs(ctx, q); err != nil {
			return err
		}
		v.next = true
	}
	words.SortQueue(list.Jobs)
	v.jobs = list
	return nil
}

// question selects the part of the cluster to request.
type question struct {
	number int
	pool   string // and the pools below it
	detail subject
}

// maxJobs is the maximum number of shown jobs. Nobody reads further.
const maxJobs = 500

// look requests the data of the screen. The numbers of one pane come from one document, and so from one
// moment.
func look(ctx context.Context, s source, q question) tea.Cmd {
	return func() tea.Msg {
		v := seen{began: time.Now(), of: q}
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		for _, ask := range []func() error{
			func() (err error) { v.shares, err = s.Shares(ctx, q.pool); return },
			func() error { return v.lookAtJobs(ctx, s, q.pool) },
			func() (err error) { v.nodes, err = s.Nodes(ctx); return },
			func() (err error) { v.limits, err = s.Limits(ctx); return },
			func() (err error) { v.detail, err = q.detail.text(ctx, s); return },
		} {
			if v.err = ask(); v.err != nil {
				break
			}
		}
		v.ended = time.Now()
		return v
	}
}

// eventSeen reports an event at the server.
type eventSeen struct{}

// listen returns a command that waits for events; one message stands for all events since the last.
func listen(happenings <-chan struct{}) tea.Cmd {
	return func() tea.Msg {
		if _, open := <-happenings; !open {
			return nil
		}
		return eventSeen{}
	}
}

// follow passes on events until ctx ends, and reconnects if the server goes away.
func follow(ctx context.Context, s source, happenings chan<- struct{}) {
	defer close(happenings)
	for ctx.Err() == nil {
		s.Events(ctx, nil, func(api.Event) error {
			wait.Wake(happenings)
			return nil
		})
		wait.For(ctx, time.Second)
	}
}
