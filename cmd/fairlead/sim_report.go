package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/sim"
	simreport "github.com/fairlead/fairlead/internal/sim/report"
	"github.com/fairlead/fairlead/internal/words"
)

// Files of a comparison.
const (
	comparePage  = "compare.html"
	compareTable = "compare.csv"
	compareAgain = "cmd.txt"
)

// writeComparison writes a comparison of schedules into a folder: the page with pictures, the table, and the
// command that makes them again.
func writeComparison(dir string, c *sim.Comparison, only *simreport.Stretch, command string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usageError{err}
	}
	name := filepath.Base(c.Trace)
	x := simreport.Report{Title: name + " under several policies", Command: command, Notes: []string{name + ": " + c.Report.String() + "."}, Only: only}
	for _, r := range c.Runs {
		x.Runs = append(x.Runs, simreport.Run{Name: r.Name, Result: r.Result})
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{comparePage, x.HTML},
		{compareTable, c.WriteCSV},
		{compareAgain, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "# fairlead %s\n%s\n", version, command)
			return err
		}},
	} {
		if err := writeWhole(filepath.Join(dir, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

// repeated returns the command line of this run, to run it again.
func repeated(c *cobra.Command, args []string) string {
	said := strings.Fields(c.CommandPath())
	for _, arg := range args {
		said = append(said, words.ShellQuoted(arg))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			said = append(said, "--"+f.Name)
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
			if f.Value.Type() != "stringArray" {
				values = []string{strings.Join(values, ",")}
			}
		}
		for _, v := range values {
			said = append(said, "--"+f.Name, words.ShellQuoted(v))
		}
	})
	return strings.Join(said, " ")
}
