package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// reportService sums up jobs of the past.
type reportService struct {
	loop     *engine.Loop
	recorder *history.Recorder
	store    queue.Store
}

type pastInput struct {
	Since  time.Time `query:"since" doc:"Start; default: 30 days ago"`
	Until  time.Time `query:"until" doc:"End; default: now"`
	By     []string  `query:"by,explode" doc:"Rows: month, pool, user, kind, or several of these; default: pool"`
	Depth  int       `query:"depth" minimum:"0" maximum:"32" doc:"Levels of pools to show; 0 is all"`
	Shares bool      `query:"shares" doc:"Add the shares that the pools had, and rows for pools that asked for something and got nothing; needs rows by pool, or by month and pool"`
	Zone   string    `query:"zone" doc:"Time zone in which months begin, e.g. Europe/Berlin; default: UTC"`
}

// past is open to everybody, like the list of jobs that it is made from.
func (s *reportService) past(ctx context.Context, in *pastInput) (*api.PastReport, error) {
	now := time.Now()
	ask := account.Ask{Since: in.Since, Until: in.Until, By: in.By, Depth: in.Depth}
	if ask.Until.IsZero() || ask.Until.After(now) {
		ask.Until = now
	}
	if ask.Since.IsZero() {
		ask.Since = now.AddDate(0, 0, -30)
	}
	if len(ask.By) == 0 {
		ask.By = []string{"pool"}
	}
	for _, by := range ask.By {
		if !slices.Contains(account.Dimensions, by) {
			return nil, &queue.Invalid{Field: "by", Msg: fmt.Sprintf("%.40q is not known; known: %s", by, strings.Join(account.Dimensions, ", "))}
		}
	}
	var err error
	if ask.Zone, err = time.LoadLocation(in.Zone); err != nil {
		return nil, &queue.Invalid{Field: "zone", Msg: fmt.Sprintf("%.60q is not a time zone that the server knows", in.Zone)}
	}
	return s.read(ctx, ask, in.Shares)
}

// read makes the report.
func (s *reportService) read(ctx context.Context, ask account.Ask, shares bool) (*api.PastReport, error) {
	_, _, ask.Unit = s.loop.Capacity()
	ask.Waited = shares
	rows, err := account.Read(ctx, s.loop.Client(), ask)
	if err != nil {
		return nil, err
	}
	if shares {
		if rows, err = s.withShares(ctx, rows, ask); err != nil {
			return nil, err
		}
	}
	return &api.PastReport{Version: api.Version, At: time.Now(), Since: ask.Since, Until: ask.Until, Unit: ask.Unit,
		By: ask.By, Rows: rows}, nil
}

// withShares adds to each row the share of the cluster that its pool had then, or has now if no history is kept. It
// drops rows without jobs unless their pools had a demand.
func (s *reportService) withShares(ctx context.Context, rows []account.Row, ask account.Ask) ([]account.Row, error) {
	if !slices.Contains(ask.By, "pool") || slices.Contains(ask.By, "user") || slices.Contains(ask.By, "kind") {
		return nil, &queue.Invalid{Field: "shares", Msg: "only pools have shares: ask for rows by pool, or by month and pool"}
	}
	now := map[string]float64{}
	for _, p := range views.Pools(ctx, s.loop) {
		now[p.Path] = p.Share
	}
	out := make([]account.Row, 0, len(rows))
	for first := 0; first < len(rows); {
		last := first + 1
		for last < len(rows) && rows[last].Month == rows[first].Month {
			last++
		}
		from, to := ask.Window(rows[first].Month)
		month, err := s.wanting(ctx, rows[first:last], from, to)
		if err != nil {
			return nil, err
		}
		if err := s.addShares(ctx, month, now, from, to); err != nil {
			return nil, err
		}
		out = append(out, month...)
		first = last
	}
	return out, nil
}

// wanting drops rows without jobs, unless history shows a demand of their pools. Held jobs, and jobs that wait for
// others, are no demand yet.
func (s *reportService) wanting(ctx context.Context, rows []account.Row, from, to time.Time) ([]account.Row, error) {
	var idle []string
	for i := range rows {
		if rows[i].Jobs == 0 {
			idle = append(idle, rows[i].Pool)
		}
	}
	wanted := map[string]bool{}
	if s.keepsHistory() && len(idle) > 0 {
		demand, err := s.recorder.PastDemand(ctx, idle, from, to)
		if err != nil {
			return nil, err
		}
		for i, units := range demand {
			wanted[idle[i]] = units > 0
		}
	}
	return slices.DeleteFunc(rows, func(r account.Row) bool { return r.Jobs == 0 && !wanted[r.Pool] }), nil
}

// addShares adds the shares to the rows of one period.
func (s *reportService) addShares(ctx context.Context, rows []account.Row, now map[string]float64, from, to time.Time) error {
	var pools []string
	for i := range rows {
		pools = append(pools, rows[i].Pool)
	}
	shares, kept := []float64(nil), s.keepsHistory()
	if kept {
		var err error
		if shares, err = s.recorder.PastShares(ctx, pools, from, to); err != nil {
			return err
		}
	}
	for i := range rows {
		if kept && shares[i] >= 0 {
			rows[i].Share = &shares[i]
		} else if share, known := now[rows[i].Pool]; known {
			rows[i].Share, rows[i].ShareNow = &share, true
		}
	}
	return nil
}

// keepsHistory reports whether the store records how pools fared.
func (s *reportService) keepsHistory() bool {
	_, kept := s.store.(queue.HistoryKeeper)
	return kept
}
