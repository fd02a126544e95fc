package web

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// Whole reports whether an export has all rows of the page's list, and not only the rows that the page shows.
func (v *shown) Whole() bool { return v.Page.Whole != nil && !folds(v.Request) }

// rowWriter writes all rows of a list; the page shows only a screenful of them.
type rowWriter interface {
	// begin writes the text before all rows. The argument "first" is the first piece of the list.
	begin(w http.ResponseWriter, first *Queue) error
	// write writes some rows.
	write(w io.Writer, req *Request, q *Queue) error
	// end writes the text after all rows.
	end(w io.Writer) error
}

// exportWhole answers with all rows of a list, some rows at a time, so that a long list takes no more memory
// than a short one. After an error it breaks the connection, so that the reader knows that rows are missing.
func (d *Dashboard) exportWhole(w http.ResponseWriter, r *http.Request, p *Page, req *Request, out rowWriter) {
	began, to := false, http.NewResponseController(w)
	err := p.Whole(r.Context(), d.source, req, func(q *Queue) error {
		if !began {
			if err := out.begin(w, q); err != nil {
				return err
			}
			began = true
		}
		if err := out.write(w, req, q); err != nil {
			return err
		}
		return to.Flush()
	})
	if err == nil {
		err = out.end(w)
	}
	switch {
	case err != nil && !began:
		d.fail(w, r, err)
	case err != nil:
		if r.Context().Err() == nil {
			d.log.Error("a list could not be written to its end", "page", p.Name, "error", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// csvRows writes rows as they appear in a part of the page.
type csvRows struct {
	d     *Dashboard
	page  *Page
	part  string
	shown []int // columns; columns without a name are for ticks
}

func (c *csvRows) begin(w http.ResponseWriter, _ *Queue) error {
	csvHeader(w, c.page, c.part)
	return nil
}

func (c *csvRows) write(w io.Writer, req *Request, q *Queue) error {
	parts, err := c.d.render(c.page, &shown{Request: req, Page: c.page, Data: q, Now: q.Now})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(parts, func(x part) bool { return x.name == c.part })
	tables, err := tablesOf(parts[i].html)
	if err != nil {
		return err
	}
	if len(tables) != 1 || len(tables[0]) == 0 {
		return fmt.Errorf("part %s has %d tables in place of one", c.part, len(tables))
	}
	rows, first := tables[0], c.shown == nil
	if first {
		for k, name := range rows[0] {
			if name != "" {
				c.shown = append(c.shown, k)
			}
		}
	} else {
		rows = rows[1:]
	}
	out := csv.NewWriter(w)
	for _, row := range rows {
		var cells []string
		for _, k := range c.shown {
			cells = append(cells, row[k])
		}
		out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

func (c *csvRows) end(io.Writer) error { return nil }

// jsonRows writes the job list of the HTTP interface, with all jobs.
type jsonRows struct{ some bool }

func (x *jsonRows) begin(w http.ResponseWriter, first *Queue) error {
	w.Header().Set("Content-Type", "application/json")
	head := struct {
		Version int         `json:"version"`
		At      time.Time   `json:"at"`
		Summary api.Summary `json:"summary"`
		More    bool        `json:"more"`
	}{api.Version, first.At, first.Summary, false}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `%s,"jobs":[`, text[:len(text)-1])
	return err
}

func (x *jsonRows) write(w io.Writer, _ *Request, q *Queue) error {
	for i := range q.Rows {
		text, err := json.Marshal(q.Rows[i].Job)
		if err != nil {
			return err
		}
		separator := "\n"
		if x.some {
			separator = ",\n"
		}
		x.some = true
		if _, err := fmt.Fprintf(w, "%s%s", separator, text); err != nil {
			return err
		}
	}
	return nil
}

func (x *jsonRows) end(w io.Writer) error {
	_, err := io.WriteString(w, "]}\n")
	return err
}

// csvHeader sets the headers for a CSV file.
func csvHeader(w http.ResponseWriter, p *Page, part string) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="fairlead-%s-%s.csv"`, p.Name, part))
}
