package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/wait"
)

// version is the version of the program; a release sets it.
var version = "0.1.0-dev"

// app is shared by all subcommands. The writers out and errs drop control characters that a terminal would
// interpret; plain.Raw is for text that must not change.
type app struct {
	in         io.Reader
	out, errs  io.Writer
	server     string // path of the server's socket
	serverUser string // user that may run the server, besides root and the user of this process
}

// printJSON prints v as JSON.
func (a *app) printJSON(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.out.Write(plain.JSON(text.Bytes()))
	return err
}

// show prints the answer of the server: as JSON on request, otherwise with f.
func show[T any](a *app, asJSON bool, f func(*T) error) func(*T, error) error {
	return func(answer *T, err error) error {
		switch {
		case err != nil:
			return err
		case asJSON:
			return a.printJSON(answer)
		}
		return f(answer)
	}
}

// document returns the writer for a file that a user may keep: unchanged, except on a terminal.
func (a *app) document() io.Writer {
	if a.terminal() {
		return a.out
	}
	return plain.Raw(a.out)
}

// listing holds the flags of the commands that print a table.
type listing struct {
	json     bool
	noHeader bool
	columns  []string
	watch    time.Duration
}

func (l *listing) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&l.json, "json", false, "print JSON")
	f.BoolVarP(&l.noHeader, "no-header", "n", false, "omit the header")
	f.StringSliceVarP(&l.columns, "columns", "o", nil, "columns to print, in this order")
	f.DurationVar(&l.watch, "watch", 0, "refresh at this interval")
	f.Lookup("watch").NoOptDefVal = "2s"
}

// print prints a table according to the flags.
func (a *app) print(l *listing, t *table.Table) error {
	t.Header = !l.noHeader
	if len(l.columns) > 0 {
		if err := t.Pick(l.columns); err != nil {
			return usageError{err}
		}
	}
	return t.Print(a.out)
}

// repeat calls f once, or again and again at the interval of --watch.
func (a *app) repeat(ctx context.Context, l *listing, f func() error) error {
	for {
		if l.watch > 0 && a.terminal() {
			fmt.Fprint(plain.Raw(a.out), "\x1b[H\x1b[2J")
		}
		if err := f(); err != nil || l.watch == 0 {
			return err
		}
		if !wait.For(ctx, l.watch) {
			return nil
		}
	}
}

// terminal reports whether the output is a terminal.
func (a *app) terminal() bool {
	f, ok := plain.Raw(a.out).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// interactive reports whether the program can ask a person.
func (a *app) interactive() bool {
	f, ok := a.in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && a.terminal()
}

// confirm asks a question and reports whether the answer is yes.
func (a *app) confirm(question string) (yes bool) {
	fmt.Fprintf(a.out, "%s [y/N] ", question)
	var answer string
	fmt.Fscanln(a.in, &answer)
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}

// jobID parses 1042 or 1042_7; number is -1 without a task.
func jobID(text string) (id int64, number int, err error) {
	job, task, array := strings.Cut(text, "_")
	id, err = strconv.ParseInt(job, 10, 64)
	number = -1
	if err == nil && array {
		number, err = strconv.Atoi(task)
	}
	if err != nil && id > 0 && strings.HasPrefix(task, "[") {
		return 0, 0, usagef("%.40q names several tasks of an array: give %d for all tasks, or %d_ and a number for one task",
			text, id, id)
	}
	if err != nil || id < 1 || array && number < 0 {
		return 0, 0, usagef("%.40q is not a job: expected a number such as 1042, or 1042_7 for a task of an array", text)
	}
	return id, number, nil
}

// jobIDs parses several jobs.
func jobIDs(args []string) ([]int64, error) {
	var ids []int64
	for _, arg := range args {
		id, number, err := jobID(arg)
		if err != nil {
			return nil, err
		}
		if number >= 0 {
			return nil, usagef("%s: this command changes whole jobs, not single tasks; give only the number of the job", arg)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "node" + strconv.Itoa(os.Getpid())
	}
	return name
}
