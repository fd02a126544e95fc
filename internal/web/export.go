package web

import (
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/plain"
)

// csvParameter asks for the tables of one part of a page, in place of the page.
const csvParameter = "csv"

// jsonParameter asks for all jobs of a list as JSON, in place of the page.
const jsonParameter = "json"

// CSV is the address of a part's tables: of the rows that the page shows, or of all if it is a list of
// jobs of which it shows a screenful.
func (r *Request) CSV(part string) string { return r.export(csvParameter, part) }

// export is the address of the page with another parameter, and without the place in a list of which all is
// to be had.
func (r *Request) export(parameter, part string) string {
	path, query, _ := strings.Cut(r.Here, "?")
	q, _ := url.ParseQuery(query)
	if path == queuePath {
		q.Del("after")
	}
	q.Set(parameter, part)
	return r.Root + path + "?" + q.Encode()
}

// JSON is the address of what a page shows, for programs; nothing if that are several.
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

// tabled are the parts in which there are tables.
func tabled(parts []part) (names []string) {
	for _, p := range parts {
		if strings.Contains(p.html, "<table") {
			names = append(names, p.name)
		}
	}
	return names
}

// export answers with the tables of a part. They are read from what the page shows, so that they
// are the same.
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
		d.log.Error("a table could not be read", "page", p.Name, "part", name, "error", err)
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
		out.WriteAll(withoutEmpty(rows))
	}
}

// exportJSON answers with all jobs of a list; other tables are had at the interface.
func (d *Dashboard) exportJSON(w http.ResponseWriter, r *http.Request, p *Page, req *Request, name string) {
	if p.Whole == nil || !slices.Contains(p.Parts, name) {
		d.noTable(w, r, name)
		return
	}
	d.exportWhole(w, r, p, req, &jsonRows{})
}

// noTable says that there is no such table to be had.
func (d *Dashboard) noTable(w http.ResponseWriter, r *http.Request, name string) {
	d.fail(w, r, fmt.Errorf("this page has no table %.40q: %w", name, fairlead.ErrNotFound))
}

// csvHeader says that tables follow, for a file.
func csvHeader(w http.ResponseWriter, p *Page, part string) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="fairlead-%s-%s.csv"`, p.Name, part))
}

// withoutEmpty leaves out columns in which nothing stands: those for ticks and pictures.
func withoutEmpty(rows [][]string) [][]string {
	most := 0
	for _, row := range rows {
		most = max(most, len(row))
	}
	var out [][]string
	for range rows {
		out = append(out, nil)
	}
	for c := range most {
		if !slices.ContainsFunc(rows, func(row []string) bool { return c < len(row) && row[c] != "" }) {
			continue
		}
		for i, row := range rows {
			cell := ""
			if c < len(row) {
				cell = row[c]
			}
			out[i] = append(out[i], cell)
		}
	}
	return out
}

// tableReader reads the tables of a piece of HTML that our templates wrote.
type tableReader struct {
	tables [][][]string
	depth  int // of tables
	text   strings.Builder
	value  string // the exact one, if the cell has one
	values int
	inCell bool
	skip   int // depth in what is no text
	span   int
}

func tablesOf(html string) ([][][]string, error) {
	in := xml.NewDecoder(strings.NewReader("<div>" + html + "</div>"))
	in.Strict, in.AutoClose, in.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var t tableReader
	for {
		token, err := in.Token()
		if err == io.EOF {
			return t.tables, nil
		}
		if err != nil {
			return nil, err
		}
		switch x := token.(type) {
		case xml.StartElement:
			t.start(x)
		case xml.EndElement:
			t.end(x.Name.Local)
		case xml.CharData:
			if t.inCell && t.skip == 0 {
				t.text.Write(x)
			}
		}
	}
}

// silent are elements whose text is no text of the cell.
var silent = []string{"svg", "button", "select", "script"}

func (t *tableReader) start(x xml.StartElement) {
	get := func(name string) string {
		for _, a := range x.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	switch name := x.Name.Local; {
	case t.skip > 0 || slices.Contains(silent, name):
		t.skip++
	case name == "table":
		if t.depth++; t.depth == 1 {
			t.tables = append(t.tables, nil)
		}
	case name == "tr" && t.depth == 1:
		last := len(t.tables) - 1
		t.tables[last] = append(t.tables[last], nil)
	case (name == "td" || name == "th") && t.depth == 1:
		t.inCell, t.value, t.values = true, "", 0
		t.text.Reset()
		t.span, _ = strconv.Atoi(cmp.Or(get("colspan"), "1"))
	case name == "data":
		t.value, t.values = get("value"), t.values+1
	case name == "time":
		t.value, t.values = get("datetime"), t.values+1
	}
}

func (t *tableReader) end(name string) {
	switch {
	case t.skip > 0:
		t.skip--
	case name == "table":
		t.depth--
	case (name == "td" || name == "th") && t.depth == 1 && t.inCell:
		t.inCell = false
		last := t.tables[len(t.tables)-1]
		if len(last) == 0 {
			return
		}
		row := &last[len(last)-1]
		*row = append(*row, t.cell())
		for range min(t.span, 100) - 1 {
			*row = append(*row, "")
		}
	}
}

// cell is what stands in a cell: its exact value, if it has one and no more, else its words. A
// spreadsheet takes for a formula what begins like one: a quotation mark goes in front.
func (t *tableReader) cell() string {
	if t.values == 1 && t.value != "" {
		if _, err := strconv.ParseFloat(t.value, 64); err == nil {
			return t.value
		}
	}
	text := strings.Join(strings.Fields(t.text.String()), " ")
	if t.values == 1 && t.value != "" && plain.Cell(t.value) == t.value {
		text = t.value
	}
	if text == "-" {
		return text
	}
	return plain.Cell(text)
}
