package report

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/fairlead/fairlead/internal/plot"
)

// Document is any other report in the layout of this package.
type Document struct {
	Title    string
	Notes    []string
	Command  string // the command that repeats the report
	Sections []Section
}

// Section is a part of a document with a title of its own.
type Section struct {
	Title, Text string
	Figures     []func(width float64) plot.Figure
	Tables      []Sheet
}

// Sheet is a table. The first column names the row.
type Sheet struct {
	Columns []Column
	Rows    [][]Cell
}

// Column is a column of a sheet, with an explanation.
type Column struct{ Name, Help string }

// Cell is a number as it is shown, or a word if it has no value.
type Cell struct {
	Text  string
	Value *float64
}

//go:embed document.html
var documentHTML string

var document = template.Must(page.New("document").Parse(documentHTML))

// HTML writes the document as a self-contained page, with the same content security policy as reports.
func (d *Document) HTML(w io.Writer) error {
	type section struct {
		Title, Text string
		Pictures    []picture
		Tables      []table
	}
	var sections []section
	for _, s := range d.Sections {
		out := section{Title: s.Title, Text: s.Text}
		for _, draw := range s.Figures {
			out.Pictures = append(out.Pictures, both(draw))
		}
		for _, t := range s.Tables {
			out.Tables = append(out.Tables, t.table())
		}
		sections = append(sections, out)
	}
	return document.Execute(w, map[string]any{
		"Document": d, "Sections": sections,
		"Policy": "default-src 'none'; style-src 'sha256-" + hash(style) + "'; script-src 'sha256-" + hash(pageJS) + "'",
		"Style":  template.CSS(style),
		"Script": template.JS(pageJS),
	})
}

func (s *Sheet) table() table {
	var t table
	for _, c := range s.Columns {
		t.Columns = append(t.Columns, column(c))
	}
	for _, row := range s.Rows {
		var cells []cell
		for _, c := range row {
			if c.Value == nil {
				cells = append(cells, word(c.Text))
				continue
			}
			cells = append(cells, number(*c.Value, func(float64) string { return c.Text }))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// HTML writes the report as a self-contained page. The page is readable without its script, which sorts
// tables and reads values off the pictures. Its content security policy forbids all other scripts, whatever
// names the workload holds.
func (r *Report) HTML(w io.Writer) error {
	pictures, err := r.pictures()
	if err != nil {
		return err
	}
	return page.Execute(w, map[string]any{
		"Report":     r,
		"Policy":     "default-src 'none'; style-src 'sha256-" + hash(style) + "'; script-src 'sha256-" + hash(pageJS) + "'",
		"Style":      template.CSS(style),
		"Script":     template.JS(pageJS),
		"Pictures":   pictures,
		"Summary":    r.summary(),
		"UserTables": r.userTables(),
	})
}
