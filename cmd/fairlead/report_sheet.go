package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/plot"
	simreport "github.com/fairlead/fairlead/internal/sim/report"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

// sheet is a report, independent of its format.
type sheet struct {
	title   string
	notes   []string
	names   int // number of columns that name the row
	columns []sheetColumn
	rows    [][]sheetCell
	figures []func(width float64) plot.Figure
	json    func(doc *api.PastReport) any // nil: the document unchanged
	command string
}

// sheetColumn is a column with a name for people, and a key for programs.
type sheetColumn struct{ name, key, help string }

// sheetCell is a word, or a number with its text for people and its exact value. Programs may get another
// word.
type sheetCell struct {
	text  string
	value *float64
	exact string
}

func wordCell(text string) sheetCell { return sheetCell{text: plain.Line(text)} }

func poolCell(path string) sheetCell {
	return sheetCell{text: plain.Line(words.Pool(path)), exact: plain.Line(path)}
}

func valueCell(v float64, text string) sheetCell { return sheetCell{text: text, value: &v} }

func countCell(n int64) sheetCell { return valueCell(float64(n), strconv.FormatInt(n, 10)) }

func (s *sheet) document(doc *api.PastReport) any {
	if s.json == nil {
		return doc
	}
	return s.json(doc)
}

func (s *sheet) table() *table.Table {
	var columns []table.Column
	for i, c := range s.columns {
		columns = append(columns, table.Column{Name: strings.ToUpper(c.name), Right: i >= s.names})
	}
	t := table.New(columns...)
	for _, row := range s.rows {
		cells := make([]any, len(row))
		for i, c := range row {
			cells[i] = dash(c.text)
		}
		t.Row(cells...)
	}
	return t
}

// csv writes exact numbers.
func (s *sheet) csv(out io.Writer, l *listing) error {
	var t csvTable
	for _, c := range s.columns {
		t.keys, t.names = append(t.keys, c.key), append(t.names, c.name)
	}
	for _, row := range s.rows {
		line := make([]string, len(row))
		for i, c := range row {
			if line[i] = c.text; c.value != nil {
				line[i] = strconv.FormatFloat(*c.value, 'f', -1, 64)
			} else {
				line[i] = plain.Cell(cmp.Or(c.exact, c.text))
			}
		}
		t.rows = append(t.rows, line)
	}
	return t.write(out, l)
}

// html writes a self-contained page, like that of the simulator.
func (s *sheet) html(w io.Writer, doc *api.PastReport) error {
	const when = "2 January 2006, 15:04"
	d := simreport.Document{Title: s.title, Command: s.command}
	d.Notes = append(d.Notes, fmt.Sprintf("From %s to %s, by %s; shares are counted in %s.", doc.Since.Local().Format(when), doc.Until.Local().Format(when), strings.Join(doc.By, " and "), doc.Unit))
	d.Notes = append(d.Notes, s.notes...)
	sheet := simreport.Sheet{}
	// The first column of a page joins all columns that name the row.
	names := []string{}
	for _, c := range s.columns[:s.names] {
		names = append(names, c.name)
	}
	sheet.Columns = append(sheet.Columns, simreport.Column{Name: strings.Join(names, ", ")})
	for _, c := range s.columns[s.names:] {
		sheet.Columns = append(sheet.Columns, simreport.Column{Name: c.name, Help: c.help})
	}
	for _, row := range s.rows {
		cells := []simreport.Cell{{Text: s.rowName(row)}}
		for _, c := range row[s.names:] {
			cells = append(cells, simreport.Cell{Text: c.text, Value: c.value})
		}
		sheet.Rows = append(sheet.Rows, cells)
	}
	if len(s.rows) == 0 {
		d.Notes = append(d.Notes, "No job began, ran or ended in this time.")
		return d.HTML(w)
	}
	d.Sections = []simreport.Section{{Title: "At a glance", Figures: s.figures}, {Title: "All numbers", Tables: []simreport.Sheet{sheet}}}
	return d.HTML(w)
}

// rowName returns the name of a row.
func (s *sheet) rowName(row []sheetCell) string {
	var parts []string
	for _, c := range row[:s.names] {
		parts = append(parts, dash(c.text))
	}
	return strings.Join(parts, " · ")
}

// shortName returns a short name of a row: the month without the year if all rows are of one year.
func (s *sheet) shortName(row []sheetCell) string {
	if s.columns[0].key != "month" || len(row[0].text) < 5 {
		return s.rowName(row)
	}
	for _, other := range s.rows {
		if !strings.HasPrefix(other[0].text, row[0].text[:4]) {
			return s.rowName(row)
		}
	}
	month, err := time.Parse("2006-01", row[0].text)
	if err != nil {
		return s.rowName(row)
	}
	short := slices.Clone(row)
	short[0].text = month.Format("Jan")
	return strings.ReplaceAll(s.rowName(short), " · ", " ")
}

// maxGroups limits the rows in a picture.
const maxGroups = 24

// bars returns a picture of some of the columns.
func (s *sheet) bars(title, note string, unit plot.Unit, scale float64, columns ...int) func(width float64) plot.Figure {
	return func(width float64) plot.Figure {
		f := plot.Bars{Title: title, Note: note, Unit: unit, Width: width}
		for _, i := range columns {
			f.Series = append(f.Series, s.columns[i].name)
		}
		for _, row := range s.rows[:min(len(s.rows), maxGroups)] {
			g := plot.Group{Name: s.rowName(row)}
			if width < 600 {
				g.Name = s.shortName(row)
			}
			for _, i := range columns {
				v := math.NaN() // unknown: no bar
				if row[i].value != nil {
					v = *row[i].value * scale
				}
				g.Values = append(g.Values, v)
			}
			f.Groups = append(f.Groups, g)
		}
		if left := len(s.rows) - len(f.Groups); left > 0 {
			f.Note = strings.TrimSpace(fmt.Sprintf("%s %d more rows are in the table.", f.Note, left))
		}
		return f
	}
}
