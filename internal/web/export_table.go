package web

import (
	"cmp"
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/plain"
)

// Tables of pages are read from their HTML. The HTML holds the values for files besides the texts for the
// screen:
//
//  - The value of a data element, or the instant of a time element, is the exact value of its cell.
//  - The attribute data-csv of a column head names the column in a file. Names separated by | are several columns,
//    and each gets one of the values of the cell. A column with an empty name is for the screen only: a picture,
//    or buttons.
//  - A cell of the class none says that there is no row.

// csvNames is the attribute of a head that names columns for a file.
const csvNames = "data-csv"

// named omits empty columns without a name: the columns of ticks.
func named(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for c := range rows[0] {
		if !slices.ContainsFunc(rows, func(row []string) bool { return c < len(row) && row[c] != "" }) {
			continue
		}
		for i, row := range rows {
			text := ""
			if c < len(row) {
				text = row[c]
			}
			out[i] = append(out[i], text)
		}
	}
	return out
}

// tableCell is the content of a cell.
type tableCell struct {
	text   string
	values []string // exact values
	names  []string // column names for a file, from the attribute of a head
	says   bool     // the head has the attribute
}

// one returns the exact value of a cell if it has exactly one, else its text.
func (c tableCell) one() string {
	switch {
	case len(c.values) == 1:
		return guarded(c.values[0])
	case c.text == "–":
		return ""
	}
	return guarded(c.text)
}

// nth returns one of several values.
func (c tableCell) nth(k int) string {
	switch {
	case k < len(c.values):
		return guarded(c.values[k])
	case k == 0 && len(c.values) == 0:
		return c.one()
	}
	return ""
}

// written matches numbers, with a sign or without one.
var written = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// guarded returns a text that no spreadsheet treats as a formula: a quotation mark precedes texts that begin
// like a formula and are not numbers.
func guarded(text string) string {
	if text == "-" || written.MatchString(text) {
		return text
	}
	return plain.Cell(text)
}

// columns converts the rows of a page to the rows of a file.
func columns(rows [][]tableCell) (out [][]string) {
	for i, row := range rows {
		var cells []string
		for c, cell := range row {
			var head tableCell
			if c < len(rows[0]) {
				head = rows[0][c]
			}
			switch {
			case head.says && i == 0:
				cells = append(cells, head.names...)
			case !head.says || len(head.names) == 1:
				cells = append(cells, cell.one())
			default:
				for k := range head.names {
					cells = append(cells, cell.nth(k))
				}
			}
		}
		out = append(out, cells)
	}
	return out
}

// tableReader reads the tables in HTML from our templates.
type tableReader struct {
	tables [][][]string
	rows   [][]tableCell // of the current table
	depth  int           // of nested tables
	cell   tableCell
	text   strings.Builder
	inCell bool
	none   bool // the row says that there are no rows
	skip   int  // depth in silent elements
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

// silent lists elements whose text does not belong to the cell.
var silent = []string{"svg", "button", "select", "script"}

func (t *tableReader) start(x xml.StartElement) {
	get := func(name string) (string, bool) {
		i := slices.IndexFunc(x.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
		if i < 0 {
			return "", false
		}
		return x.Attr[i].Value, true
	}
	value := func(name string) {
		v, _ := get(name)
		t.cell.values = append(t.cell.values, v)
	}
	switch name := x.Name.Local; {
	case t.skip > 0 || slices.Contains(silent, name):
		t.skip++
	case name == "table":
		if t.depth++; t.depth == 1 {
			t.rows = nil
		}
	case name == "tr" && t.depth == 1:
		t.rows, t.none = append(t.rows, nil), false
	case (name == "td" || name == "th") && t.depth == 1:
		t.inCell, t.cell = true, tableCell{}
		t.text.Reset()
		if names, says := get(csvNames); says {
			t.cell.says = true
			if names != "" {
				t.cell.names = strings.Split(names, "|")
			}
		}
		class, _ := get("class")
		t.none = t.none || class == "none"
		span, _ := get("colspan")
		t.span, _ = strconv.Atoi(cmp.Or(span, "1"))
	case name == "data":
		value("value")
	case name == "time":
		value("datetime")
	}
}

func (t *tableReader) end(name string) {
	last := len(t.rows) - 1
	switch {
	case t.skip > 0:
		t.skip--
	case name == "table":
		if t.depth--; t.depth == 0 && len(t.rows) > 0 {
			t.tables = append(t.tables, columns(t.rows))
		}
	case name == "tr" && t.depth == 1 && t.none && last >= 0:
		t.rows = t.rows[:last]
	case (name == "td" || name == "th") && t.depth == 1 && t.inCell:
		if t.inCell = false; last < 0 {
			return
		}
		t.cell.text = strings.Join(strings.Fields(t.text.String()), " ")
		t.rows[last] = append(t.rows[last], t.cell)
		for range min(t.span, 100) - 1 {
			t.rows[last] = append(t.rows[last], tableCell{})
		}
	}
}
