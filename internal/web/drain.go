package web

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// drainPage asks for confirmation before a node is drained, and shows its running tasks; resumePage asks
// before the node takes tasks again. A POST to the same addresses carries the change out.
var (
	drainPage = &Page{Name: "drain", Of: "machines", Path: "machines/drain", Seen: ByUser, Load: loadDrain,
		Post: postDrain}
	resumePage = &Page{Name: "drain", Of: "machines", Path: "machines/resume", Seen: ByUser, Load: loadDrain,
		Post: postDrain}
)

// Drain is a change of a node, before or after it is carried out.
type Drain struct {
	Node   *views.NodeView
	Unit   string
	At     time.Time
	Resume bool
	Tasks  []history.NodeTask // running on the node
	Users  []string
	Last   *time.Time // end of the last task; nil if one has no limit
	// Stranded is the number of waiting jobs that no other node could run.
	Stranded int
	Reason   string
	Maint    bool
	Done     bool
	Problem  error // in the form; nil if there is none
}

func (d *Drain) refused() error { return d.Problem }

func loadDrain(ctx context.Context, src Source, r *Request) (any, error) {
	d, err := askedDrain(ctx, src, r)
	if err != nil {
		return nil, err
	}
	if !d.Resume {
		if d.Stranded, err = src.Nodes.Stranded(ctx, d.Node.Name); err != nil {
			return nil, err
		}
		if now := d.Node.Drain; now != nil && !now.SetAside && !r.Query.Has("reason") {
			d.Reason, d.Maint = now.Reason, now.Maintenance
		}
	}
	tasks, err := src.Nodes.NumberedTasks(ctx, []string{d.Node.Name}, 0)
	if err != nil {
		return nil, err
	}
	d.Tasks = tasks.Tasks
	left := history.RemainingOf(d.Tasks)
	if d.Users = left.Users; left.Endless == 0 && !left.Last.IsZero() {
		d.Last = &left.Last
	}
	return d, nil
}

// askedDrain returns the change that the request is about.
func askedDrain(ctx context.Context, src Source, r *Request) (*Drain, error) {
	if err := r.You.may(access.Nodes, access.Object{}); err != nil {
		return nil, err
	}
	nodes, err := src.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	name := r.Word("node")
	at := slices.IndexFunc(nodes.Nodes, func(n views.NodeView) bool { return n.Name == name })
	if at < 0 {
		return nil, missing("no machine is called %.256q", name)
	}
	return &Drain{Node: &nodes.Nodes[at], Unit: nodes.Unit, At: nodes.At, Reason: strings.TrimSpace(r.Word("reason")),
		Maint: r.Word("maintenance") != "", Resume: strings.HasPrefix(r.Here, "machines/resume")}, nil
}

// formAgain returns the form of a drain with its mistake, and with everything that was typed.
func formAgain(ctx context.Context, src Source, r *Request, mistake error) (any, error) {
	again, err := loadDrain(ctx, src, r)
	if err != nil {
		return nil, err
	}
	again.(*Drain).Problem = mistake
	return again, nil
}

func postDrain(ctx context.Context, src Source, r *Request) (any, error) {
	d, err := askedDrain(ctx, src, r)
	if err != nil {
		return nil, err
	}
	done, err := src.Nodes.Drain(ctx, d.Node.Name,
		api.DrainRequest{Drain: !d.Resume, Maintenance: d.Maint, Reason: d.Reason})
	if errors.Is(err, queue.ErrInvalid) && !d.Resume {
		return formAgain(ctx, src, r, err)
	}
	if err != nil {
		return nil, err
	}
	d.Done, d.Stranded = true, done.Stranded
	return d, nil
}
