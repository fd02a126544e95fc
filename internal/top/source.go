package top

import (
	"context"
	"net/url"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

// Source is the server that is shown. *api.Client is one.
type Source interface {
	Shares(ctx context.Context, pool string) (*api.Shares, error)
	Jobs(ctx context.Context, q url.Values) (*api.JobList, error)
	Nodes(ctx context.Context) (*api.Nodes, error)
	Limits(ctx context.Context) (*api.Limits, error)
	Why(ctx context.Context, id int64, o fairlead.WhyOptions) (*why.Answer, error)
	WhyPool(ctx context.Context, pool string) (*why.Answer, error)
	Boost(ctx context.Context, r api.BoostRequest) (*api.BoostResponse, error)
	Events(ctx context.Context, q url.Values, f func(api.Event) error) error
}

var _ Source = (*api.Client)(nil)

// seen is what a look at the server brought.
type seen struct {
	shares *api.Shares
	jobs   *api.JobList
	next   bool // jobs are those that start next only
	nodes  *api.Nodes
	limits *api.Limits
	detail []string
	err    error

	began, ended time.Time
	of           question
}

// question is what is looked at.
type question struct {
	number int
	pool   string // and those below it
	detail subject
}

// mostJobs is how many jobs are shown: nobody reads further.
const mostJobs = 500

// look asks the server. What is asked is of one moment as far as it matters: the numbers of
// one pane come from one document.
func look(ctx context.Context, s Source, q question) tea.Cmd {
	return func() tea.Msg {
		v := seen{began: time.Now(), of: q}
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		for _, ask := range []func() error{
			func() (err error) { v.shares, err = s.Shares(ctx, q.pool); return },
			func() error { return v.lookAtJobs(ctx, s, q.pool) },
			func() (err error) { v.nodes, err = s.Nodes(ctx); return },
			func() (err error) { v.limits, err = s.Limits(ctx); return },
			func() (err error) { v.detail, err = q.detail.tell(ctx, s); return },
		} {
			if v.err = ask(); v.err != nil {
				break
			}
		}
		v.ended = time.Now()
		return v
	}
}

// lookAtJobs takes all that have not ended or, if these are many, what runs and what starts
// next.
func (v *seen) lookAtJobs(ctx context.Context, s Source, pool string) error {
	q := url.Values{"rank": {"true"}, "start": {"true"}, "limit": {strconv.Itoa(mostJobs)}, "state": {"held", "blocked", "waiting", "queued", "running"}}
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

// happened says that something happened at the server.
type happened struct{}

// listen tells of events, one message for all that happened since the last.
func listen(happenings <-chan struct{}) tea.Cmd {
	return func() tea.Msg {
		if _, open := <-happenings; !open {
			return nil
		}
		return happened{}
	}
}

// follow passes on that something happened until ctx ends, and connects again if the server
// goes away.
func follow(ctx context.Context, s Source, happenings chan<- struct{}) {
	defer close(happenings)
	for ctx.Err() == nil {
		s.Events(ctx, nil, func(api.Event) error {
			select {
			case happenings <- struct{}{}:
			default: // one is on its way
			}
			return nil
		})
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
