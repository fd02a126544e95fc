package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

func (s *reserve) end(ctx context.Context, client *api.Client, name string) error {
	out, err := client.Unreserve(ctx, name)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(out)
	}
	x := &out.Reservation
	fmt.Fprintf(s.out, "%s is over: %s take tasks of all again\n", x.Name, strings.Join(x.Nodes, ", "))
	if x.Until.After(time.Now()) {
		fmt.Fprintln(s.out, "undo:", again(x))
	}
	return nil
}

// tryEnd says what would end, and which jobs ask for it.
func (s *reserve) tryEnd(ctx context.Context, client *api.Client, name string) error {
	all, err := client.Reservations(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all.Reservations, func(x fairlead.Reservation) bool { return x.Name == name })
	if i < 0 {
		return &fairlead.Missing{Msg: fmt.Sprintf("no reservation %q; see fairlead reserve", name)}
	}
	x := &all.Reservations[i]
	ids, err := asking(ctx, client, name)
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(ending{Version: api.Version, Reservation: *x, Jobs: ids})
	}
	plain.Lines(x)
	fmt.Fprintf(s.out, "%s would be over: %s on %s, from %s until %s\n", x.Name, words.Reserved(x), strings.Join(x.Nodes, ", "), begins(x, all.At), why.Clock(x.Until, all.At))
	if len(ids) > 0 {
		fmt.Fprintln(s.out, "jobs that ask for it, and of which nothing more would start:", someJobs(ids))
	}
	fmt.Fprintln(s.out, "nothing was changed; do it with: fairlead reserve", name, "--cancel")
	return nil
}

// ending is a reservation that would end, and the jobs that ask for it.
type ending struct {
	Version     int                  `json:"version"`
	Reservation fairlead.Reservation `json:"reservation"`
	Jobs        []int64              `json:"jobs"`
}

// asking are the jobs that have not ended and ask for a reservation.
func asking(ctx context.Context, client *api.Client, name string) ([]int64, error) {
	ids := []int64{}
	v := url.Values{"state": openStates, "limit": {"10000"}}
	for {
		list, err := client.Jobs(ctx, v)
		if err != nil {
			return nil, err
		}
		for i := range list.Jobs {
			if list.Jobs[i].Reservation == name {
				ids = append(ids, list.Jobs[i].ID)
			}
		}
		if !list.More {
			return ids, nil
		}
		v.Set("after", strconv.FormatInt(list.Jobs[len(list.Jobs)-1].ID, 10))
	}
}

// someJobs names the first of some jobs.
func someJobs(ids []int64) string {
	var parts []string
	for i, id := range ids {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(ids)-shown))
			break
		}
		parts = append(parts, strconv.FormatInt(id, 10))
	}
	return strings.Join(parts, ", ")
}
