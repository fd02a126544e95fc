package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
)

// ending is the JSON of a reservation that would end, with the jobs that ask for it.
type ending struct {
	Version     int                `json:"version"`
	Reservation engine.Reservation `json:"reservation"`
	Jobs        []int64            `json:"jobs"`
}

// asking returns the jobs that have not ended and ask for a reservation.
func asking(ctx context.Context, client *api.Client, name string) ([]int64, error) {
	ids := []int64{}
	v := url.Values{"state": openStates, "limit": {"10000"}}
	for {
		list, err := client.Jobs.List(ctx, v)
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
