package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// findPath is the path of the search in the head of all pages.
const findPath = "find"

// find leads to the job, machine, pool or user of the typed name. Any other text is a filter for the list of all jobs.
func (d *Dashboard) find(w http.ResponseWriter, r *http.Request) {
	if err := checkQuery(r); err != nil {
		d.fail(w, r, err)
		return
	}
	to, err := d.found(r.Context(), strings.TrimSpace(r.URL.Query().Get("q")))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	w.Header().Set("Location", to) // relative, as the dashboard may be behind a path prefix
	w.WriteHeader(http.StatusSeeOther)
}

// found returns the address for a typed text, relative to the root of the dashboard.
func (d *Dashboard) found(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "./queue?list=all", nil
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && id > 0 {
		list, err := d.source.Jobs.List(ctx, queue.Query{IDs: []int64{id}, Limit: 1}, JobOptions{})
		if err != nil || len(list.Jobs) > 0 {
			return "./jobs/" + strconv.FormatInt(id, 10), err
		}
	}
	nodes, err := d.source.Nodes.List(ctx)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(nodes.Nodes, func(n views.NodeView) bool { return n.Name == text }) {
		return "./nodes/" + url.PathEscape(text), nil
	}
	shares, err := d.source.Pools.Shares(ctx, "")
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(shares.Pools, func(p views.PoolView) bool { return p.Path == text }) {
		return "./pool" + poolQuery(text), nil
	}
	of, err := d.source.Jobs.List(ctx, queue.Query{User: text, Limit: 1}, JobOptions{})
	if err != nil {
		return "", err
	}
	if len(of.Jobs) > 0 {
		text = "user:" + filterValue(text)
	}
	return "./queue?list=all&q=" + url.QueryEscape(text), nil
}
