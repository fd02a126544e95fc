package web

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/plot"
)

// machinesPage shows the past, present and planned tasks of each node.
var machinesPage = &Page{Name: "machines", Path: "machines", Title: "Machines", Key: "m", Seen: ByRole,
	Parts: []string{"glance", "groups", "plan", "nodes", "reserved", "limits"}, Load: loadMachines}

// nodesShown is the number of nodes with a row in the picture.
const nodesShown = 20

func loadMachines(ctx context.Context, src Source, r *Request) (any, error) {
	nodes, err := src.Nodes.List(ctx)
	if err != nil {
		return nil, err
	}
	m := &Machines{Nodes: nodes, Query: strings.TrimSpace(r.Word("q")), May: r.You.can(access.Nodes, access.Object{})}
	if m.Limits, err = src.Nodes.Limits(ctx); err != nil {
		return nil, err
	}
	all, err := src.Nodes.Reservations(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range all.Reservations {
		m.Reserved = append(m.Reserved, reservation{x})
	}
	m.Found = matching(nodes.Nodes, m.Query)
	m.Pager = pagerOf(len(m.Found), nodesShown, r)
	var names []string
	for _, n := range m.Found[min(m.First-1, len(m.Found)):m.Last] {
		m.Rows = append(m.Rows, nodeRow{n, m.Nodes})
		names = append(names, n.Name)
	}
	if len(names) > 0 {
		tasks, err := src.Nodes.Tasks(ctx, names, time.Duration(m.hours(r)*float64(time.Hour)))
		if err != nil {
			return nil, err
		}
		m.Tasks = tasks.Tasks
	}
	m.Cells = plot.Cells{Name: "nodes", Width: 1180}
	for _, n := range m.Found {
		m.Cells.Cells = append(m.Cells.Cells, plot.Cell{Name: n.Name, Full: fullness(n, m.Unit), Drain: n.State == "drain" ||
			n.State == "maintenance", Gone: n.State == "down"})
	}
	m.LimitHistory = limitHistory{src.Nodes.LimitSeries(time.Duration(m.hours(r) * float64(time.Hour))), m.At}
	m.group(r)
	shares, err := src.Pools.Shares(ctx, "")
	if err != nil {
		return nil, err
	}
	m.timeline(r, coloured(shares.Pools))
	return m, nil
}
