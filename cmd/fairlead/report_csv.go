package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/table"
)

// csvTable is a report as comma-separated values.
type csvTable struct {
	keys  []string // the head
	names []string // of the columns for people, which -o may use instead; nil if there are none
	rows  [][]string
}

// write writes the table with the columns and the head that the flags ask for.
func (t *csvTable) write(out io.Writer, l *listing) error {
	at := make([]int, len(t.keys))
	for i := range at {
		at[i] = i
	}
	if len(l.columns) > 0 {
		var err error
		if at, err = t.pick(l.columns); err != nil {
			return err
		}
	}
	w := csv.NewWriter(out)
	line := func(all []string) {
		cells := make([]string, len(at))
		for i, k := range at {
			cells[i] = all[k]
		}
		w.Write(cells)
	}
	if !l.noHeader {
		line(t.keys)
	}
	for _, row := range t.rows {
		line(row)
	}
	w.Flush()
	return w.Error()
}

// pick returns the columns with these names. For the name of a file it gives a hint, because -o names a file in
// other programs.
func (t *csvTable) pick(columns []string) (at []int, err error) {
	if at, err = table.Find(columns, t.keys, t.names...); err != nil {
		return nil, usagef("%w%s", err, fileHint(columns[len(at)]))
	}
	return at, nil
}

// fileHint is the end of an error about a column whose name looks like that of a file.
func fileHint(name string) string {
	if !strings.ContainsAny(name, "./") {
		return ""
	}
	return fmt.Sprintf("; -o chooses columns; to write to a file: --out %s", name)
}

// rootSlash writes the path of a pool, / for the root.
func rootSlash(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
