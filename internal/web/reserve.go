package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/views"
	say "github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why/room"
)

// reservePage asks for the users of reserved nodes, and shows tasks in the way; unreservePage asks before a
// reservation ends. A POST to the same addresses carries the change out.
var (
	reservePage = &Page{Name: "reserve", Of: "machines", Path: "machines/reserve", Seen: ByUser, Load: loadReserve,
		Post: postReserve}
	unreservePage = &Page{Name: "unreserve", Of: "machines", Path: "machines/unreserve", Seen: ByUser, Load: loadUnreserve,
		Post: postUnreserve}
)

// Reserve is a reservation, before or after it is made.
type Reserve struct {
	At   time.Time
	Unit string
	// The texts of the form.
	Name, Nodes, Start, Length, Pools, Users, Reason string
	Maint                                            bool
	// PoolNames and NodeNames are suggestions.
	PoolNames, NodeNames []string
	Problem              string

	// Plan is the reservation to make, and the jobs that would still run on its nodes; nil until the form is
	// complete. Old is the reservation that it changes.
	Plan *api.ReserveResponse
	Old  *engine.Reservation
	// Kept is the work that is planned for the nodes at that time.
	Kept []room.Kept
	Done bool
}

// What describes the users or the purpose of the reservation.
func (v *Reserve) What() string { return say.Reserved(&v.Plan.Reservation) }

// Was describes the users or the purpose of the reservation that is changed.
func (v *Reserve) Was() string { return say.Reserved(v.Old) }

// From returns its start; the form contains it, so that the reservation begins at the instant that the page
// showed.
func (v *Reserve) From() string { return v.Plan.Reservation.From.Format(time.RFC3339Nano) }

// Overruns returns the jobs whose tasks are in the way.
func (v *Reserve) Overruns() []engine.OverrunJob { return engine.OverrunJobs(v.Plan.Overruns) }

// Lasts returns its length.
func (v *Reserve) Lasts() string {
	return units.FormatDuration(v.Plan.Reservation.Until.Sub(v.Plan.Reservation.From).Round(time.Second))
}

// Chosen returns the names of the nodes, for a form.
func (v *Reserve) Chosen() string { return strings.Join(v.Plan.Reservation.Nodes, ",") }

// listOf splits words at spaces and commas.
func listOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
}

func loadReserve(ctx context.Context, src Source, r *Request) (any, error) {
	if err := r.You.may(access.Nodes, access.Object{}); err != nil {
		return nil, err
	}
	nodes, err := src.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	v := &Reserve{
		At: nodes.At, Unit: nodes.Unit, Name: strings.TrimSpace(r.Word("name")), Start: strings.TrimSpace(r.Word("start")), Length: strings.TrimSpace(r.Word("for")),
		Pools: r.Word("pools"), Users: r.Word("users"), Reason: strings.TrimSpace(r.Word("reason")), Maint: r.Word("maintenance") != "",
	}
	v.Nodes = strings.Join(append(slices.Clone(r.Query["node"]), listOf(r.Word("nodes"))...), ", ")
	v.PoolNames = poolsFor(ctx, src)
	for i := range nodes.Nodes {
		if len(v.NodeNames) < poolsOffered {
			v.NodeNames = append(v.NodeNames, nodes.Nodes[i].Name)
		}
	}
	if v.Name == "" && v.Start == "" && v.Length == "" {
		return v, nil // the form has just been opened
	}
	req, err := v.request()
	if err == nil {
		req.DryRun = true
		v.Plan, err = src.Nodes.Reserve(ctx, v.Name, *req)
	}
	if err != nil {
		v.Plan, v.Problem = nil, err.Error()
		return v, nil
	}
	v.Kept = keptAt(nodes.Nodes, &v.Plan.Reservation)
	all, err := src.Nodes.Reservations(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all.Reservations, func(x engine.Reservation) bool { return x.Name == v.Name }); i >= 0 {
		v.Old = &all.Reservations[i]
	}
	return v, nil
}

// request returns the request of the form.
func (v *Reserve) request() (*api.ReserveRequest, error) {
	r := &api.ReserveRequest{Pools: listOf(v.Pools), Users: listOf(v.Users), Maintenance: v.Maint, Reason: v.Reason}
	if v.Name == "" {
		return nil, &queue.Invalid{Field: "name", Msg: "is missing: jobs ask for the reservation by its name"}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(v.Nodes)); err == nil {
		if r.Count = n; n < 1 {
			return nil, &queue.Invalid{Field: "machines", Msg: fmt.Sprintf("must be at least 1, got %d", n)}
		}
	} else {
		r.Nodes = listOf(v.Nodes)
	}
	var err error
	if r.From, err = units.ParseStart(v.Start, time.Now()); err != nil {
		return nil, &queue.Invalid{Field: "from", Msg: err.Error()}
	}
	d, err := units.ParseDuration(v.Length)
	if err == nil && d <= 0 {
		err = fmt.Errorf("must be more than 0")
	}
	if err != nil {
		return nil, &queue.Invalid{Field: "for", Msg: err.Error()}
	}
	r.Seconds = d.Seconds()
	return r, nil
}

// keptAt returns the jobs with planned starts on the nodes of a reservation while it lasts.
func keptAt(nodes []views.NodeView, r *engine.Reservation) (out []room.Kept) {
	for i := range nodes {
		if !slices.Contains(r.Nodes, nodes[i].Name) {
			continue
		}
		for _, k := range nodes[i].Kept {
			known := slices.ContainsFunc(out, func(x room.Kept) bool { return x.Job == k.Job })
			if !known && k.From.Before(r.Until) && k.To.After(r.From) {
				out = append(out, k)
			}
		}
	}
	slices.SortFunc(out, func(a, b room.Kept) int { return a.From.Compare(b.From) })
	return out
}

func postReserve(ctx context.Context, src Source, r *Request) (any, error) {
	data, err := loadReserve(ctx, src, r)
	if err != nil {
		return nil, err
	}
	v := data.(*Reserve)
	req, err := v.request()
	if err != nil {
		return nil, err
	}
	req.Force = r.Word("force") != ""
	if v.Plan, err = src.Nodes.Reserve(ctx, v.Name, *req); err != nil {
		return nil, err
	}
	v.Done = true
	return v, nil
}

// Unreserve is the end of a reservation, before or after it is carried out.
type Unreserve struct {
	At          time.Time
	Reservation engine.Reservation
	Done        bool
}

// What describes the users or the purpose of the reservation.
func (v *Unreserve) What() string { return say.Reserved(&v.Reservation) }

func loadUnreserve(ctx context.Context, src Source, r *Request) (any, error) {
	if err := r.You.may(access.Nodes, access.Object{}); err != nil {
		return nil, err
	}
	all, err := src.Nodes.Reservations(ctx)
	if err != nil {
		return nil, err
	}
	name := r.Word("name")
	i := slices.IndexFunc(all.Reservations, func(x engine.Reservation) bool { return x.Name == name })
	if i < 0 {
		return nil, missing("there is no reservation %.64q; it may have ended", name)
	}
	return &Unreserve{At: all.At, Reservation: all.Reservations[i]}, nil
}

func postUnreserve(ctx context.Context, src Source, r *Request) (any, error) {
	data, err := loadUnreserve(ctx, src, r)
	if err != nil {
		return nil, err
	}
	v := data.(*Unreserve)
	if _, err := src.Nodes.Unreserve(ctx, v.Reservation.Name); err != nil {
		return nil, err
	}
	v.Done = true
	return v, nil
}
