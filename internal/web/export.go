package web

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// CSV returns the address of a part's tables as CSV. It has the rows that the page shows, or all rows of a
// list of jobs.
func (r *Request) CSV(part string) string { return r.export(csvParameter, part) }

// export returns the address of the page with another parameter. It omits the position in a list that is
// exported as a whole.
func (r *Request) export(parameter, part string) string {
	path, query, _ := strings.Cut(r.Here, "?")
	q, _ := url.ParseQuery(query)
	if path == queuePath {
		q.Del("after")
	}
	q.Set(parameter, part)
	return r.Root + path + "?" + q.Encode()
}

// JSON returns the address of the page's data for programs, or "" if the page shows several documents.
func (r *Request) JSON(page string) string {
	switch page {
	case "now", "pool":
		if pool := r.Query.Get("pool"); pool != "" {
			return r.Root + "v1/shares?" + url.Values{"pool": {pool}}.Encode()
		}
		return r.Root + "v1/shares"
	case "queue":
		return r.export(jsonParameter, "list")
	case "job":
		if _, err := strconv.ParseInt(r.ID, 10, 64); err == nil {
			return r.Root + "v1/jobs/" + r.ID + "/why"
		}
	case "machines":
		return r.Root + "v1/nodes"
	case "policy":
		return r.Root + "v1/config"
	}
	return ""
}

// export answers with the tables of a part. It reads them from the HTML of the page, so that both have the
// same values.
func (d *Dashboard) export(w http.ResponseWriter, r *http.Request, p *Page, req *Request, name string) {
	req.Live, req.Table = true, true
	if (&shown{Request: req, Page: p}).Whole() && slices.Contains(p.Parts, name) {
		d.exportWhole(w, r, p, req, &csvRows{d: d, page: p, part: name})
		return
	}
	parts, err := d.parts(r.Context(), p, req)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	i := slices.IndexFunc(parts, func(x part) bool { return x.name == name })
	if i < 0 {
		d.noTable(w, r, name)
		return
	}
	tables, err := tablesOf(parts[i].html)
	if err != nil {
		d.source.Server.Failed(r.Context(),
			fmt.Errorf("the table %s of the page %s could not be read: %w", name, p.Name, err))
		http.Error(w, "this table cannot be read: see the server's log", http.StatusInternalServerError)
		return
	}
	csvHeader(w, p, name)
	out := csv.NewWriter(w)
	for k, rows := range tables {
		if k > 0 {
			out.Flush()
			io.WriteString(w, "\n")
		}
		out.WriteAll(named(rows))
	}
}

// exportJSON answers with all jobs of a list; programs get other tables from the HTTP interface.
func (d *Dashboard) exportJSON(w http.ResponseWriter, r *http.Request, p *Page, req *Request, name string) {
	if p.Whole == nil || !slices.Contains(p.Parts, name) {
		d.noTable(w, r, name)
		return
	}
	d.exportWhole(w, r, p, req, &jsonRows{})
}

// noTable answers that the page has no such table.
func (d *Dashboard) noTable(w http.ResponseWriter, r *http.Request, name string) {
	d.fail(w, r, missing("this page has no table %.40q", name))
}
