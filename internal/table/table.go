// Package table lays out the lists of the command line. Columns are as wide as they need to be, and are cut
// to the width of the terminal. If the output is not a terminal, it is plain text.
package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/plain"
)

// Column is one column of a table.
type Column struct {
	Name  string
	Right bool // aligns numbers to the right; they are never cut
	Whole bool // is never cut, though it holds texts
	Wraps bool // long texts continue in lines below
	Least int  // the width that a text column keeps while others can be left out; 0 is the usual one
	// Spare orders the columns that are left out if the terminal is too narrow for all: columns with larger numbers
	// are left out first.
	Spare int
}

// Table collects rows and prints them.
type Table struct {
	columns []Column
	rows    [][]string
	bold    map[int]bool
	picked  bool     // the columns were chosen by name
	out     []string // the names of columns that were left out
	// Styled says that cells may carry styles; the caller must have made them harmless.
	Styled bool
	// Header is false with -n.
	Header bool
}

// New returns an empty table.
func New(columns ...Column) *Table {
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i].Name = plain.Line(columns[i].Name)
	}
	return &Table{columns: columns, Header: true, bold: map[int]bool{}}
}

// Row adds a row; missing cells at its end are empty. Row replaces terminal control characters in all texts,
// unless Styled is set.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(t.columns))
	for i, c := range cells {
		if row[i] = fmt.Sprint(c); !t.Styled {
			row[i] = plain.Line(row[i])
		}
	}
	t.rows = append(t.rows, row)
}

// Mark emphasizes the last row.
func (t *Table) Mark() { t.bold[len(t.rows)-1] = true }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Find returns the places of names among the known ones, whatever their case. The argument "also" holds second names
// of the same columns, if they have any. An unknown name is an error that lists the known ones; the places of the
// names before it are returned, too.
func Find(names, known []string, also ...string) (at []int, err error) {
	for _, n := range names {
		is := func(k string) bool { return strings.EqualFold(k, n) }
		i := slices.IndexFunc(known, is)
		if i < 0 {
			i = slices.IndexFunc(also, is)
		}
		if i < 0 {
			return at, fmt.Errorf("there is no column %q; known: %s", n, strings.Join(known, ", "))
		}
		at = append(at, i)
	}
	return at, nil
}

// Pick keeps only the named columns, in that order. An unknown name is an error that lists the known ones.
func (t *Table) Pick(names []string) error {
	known := make([]string, len(t.columns))
	for i, c := range t.columns {
		known[i] = strings.ToLower(c.Name)
	}
	at, err := Find(names, known)
	if err != nil {
		return err
	}
	columns := make([]Column, len(at))
	for i, k := range at {
		columns[i] = t.columns[k]
	}
	for r, row := range t.rows {
		picked := make([]string, len(at))
		for i, k := range at {
			picked[i] = row[k]
		}
		t.rows[r] = picked
	}
	t.columns, t.picked = columns, true
	return nil
}
