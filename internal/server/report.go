package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) reportRoutes(a huma.API) {
	handle(a, http.MethodGet, "/v1/report", "report", "What jobs of the past had, and how long they waited", 0, s.past)
}

type pastInput struct {
	Since  time.Time `query:"since" doc:"From when on; default: 30 days ago"`
	Until  time.Time `query:"until" doc:"Until when; default: now"`
	By     []string  `query:"by,explode" doc:"What the rows are: month, pool, user, kind, or several of these; default: pool"`
	Depth  int       `query:"depth" minimum:"0" maximum:"32" doc:"So many names of the paths of pools; 0 is all"`
	Shares bool      `query:"shares" doc:"Add the shares that the pools had; the rows are pools then, or months and pools"`
	Zone   string    `query:"zone" doc:"Time zone in which months begin, e.g. Europe/Berlin; default: UTC"`
}

// past is for everybody, as the list of jobs is that it is made from.
func (s *Server) past(ctx context.Context, in *pastInput) (*body[api.PastReport], error) {
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
			return nil, &fairlead.Invalid{Field: "by", Msg: fmt.Sprintf("%.40q is not known; known: %s", by, strings.Join(account.Dimensions, ", "))}
		}
	}
	var err error
	if ask.Zone, err = time.LoadLocation(in.Zone); err != nil {
		return nil, &fairlead.Invalid{Field: "zone", Msg: fmt.Sprintf("%.60q is not a time zone that the server knows", in.Zone)}
	}
	_, _, ask.Unit = s.options.Loop.Capacity()
	rows, err := account.Read(ctx, s.options.Loop.Client(), ask)
	if err != nil {
		return nil, err
	}
	if in.Shares {
		if err := s.addShares(ctx, rows, ask); err != nil {
			return nil, err
		}
	}
	return answer(api.PastReport{Version: api.Version, At: now, Since: ask.Since, Until: ask.Until, Unit: ask.Unit, By: ask.By, Rows: rows}), nil
}

// addShares says of each row which share of the whole its pool had then; of what nothing is
// kept, which it has now.
func (s *Server) addShares(ctx context.Context, rows []account.Row, ask account.Ask) error {
	if !slices.Contains(ask.By, "pool") || slices.Contains(ask.By, "user") || slices.Contains(ask.By, "kind") {
		return &fairlead.Invalid{Field: "shares", Msg: "shares are those of pools: ask for rows by pool, or by month and pool"}
	}
	now := map[string]float64{}
	for _, p := range s.options.Loop.Pools(ctx) {
		now[p.Path] = p.Share
	}
	_, kept := s.options.Store.(fairlead.HistoryKeeper)
	for first := 0; first < len(rows); {
		last := first + 1
		for last < len(rows) && rows[last].Month == rows[first].Month {
			last++
		}
		month := rows[first:last]
		first = last
		var pools []string
		for i := range month {
			pools = append(pools, month[i].Pool)
		}
		shares := make([]float64, len(pools))
		from, to := ask.Window(month[0].Month)
		if kept {
			var err error
			if shares, err = s.options.Loop.PastShares(ctx, pools, from, to); err != nil {
				return err
			}
		}
		for i := range month {
			if kept && shares[i] >= 0 {
				month[i].Share = &shares[i]
			} else if share, known := now[month[i].Pool]; known {
				month[i].Share, month[i].ShareNow = &share, true
			}
		}
	}
	return nil
}
