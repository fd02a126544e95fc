package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
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

// printDelays prints the waiting jobs that a reservation would delay.
func printDelays(out io.Writer, d *forecast.Delays) {
	switch {
	case d == nil: // an older server does not report this
		return
	case d.Unknown:
		fmt.Fprintln(out, "too many jobs are waiting: it is unknown which of them would start later")
		return
	case d.Later == 0:
		fmt.Fprintln(out, "no waiting job would start later, if no job is submitted")
		return
	}
	fmt.Fprintf(out, "%s would start later, if no job is submitted:\n", units.Plural(d.Later, "waiting job"))
	for i, x := range d.Jobs {
		if i == shown {
			break
		}
		is, about := "not at all", ""
		if x.After != nil {
			is = clock(*x.After, d.At)
		}
		if x.Predicted {
			about = "~"
		}
		fmt.Fprintf(out, "  job %d %s (%s, %s): %s%s -> %s%s\n", x.Job, x.Name, x.User, words.Pool(x.Pool), about,
			clock(x.Before, d.At), about, is)
	}
	if more := d.Later - min(shown, len(d.Jobs)); more > 0 {
		fmt.Fprintf(out, "  … and %d more\n", more)
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
