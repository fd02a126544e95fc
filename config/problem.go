package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/internal/units"
)

// Problem is an error, a warning or a hint about one place of a file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`              // from 1; 0 means the whole file
	Col     int    `json:"col"`               // from 1; it counts characters
	Warning bool   `json:"warning"`           // the file can still be used
	Hint    bool   `json:"hint"`              // a warning for config check only: nothing is wrong
	Msg     string `json:"msg"`               // e.g. "weight must be >= 0, got -2"
	Setting string `json:"setting,omitempty"` // set if the problem is in this setting, not in the file
	Excerpt string `json:"excerpt"`           // the lines around the place with a caret below it
}

// String formats the problem on one line as compilers do.
func (p Problem) String() string {
	at := ""
	if p.Line > 0 {
		at = fmt.Sprintf(":%d:%d", p.Line, p.Col)
	}
	if p.Setting != "" {
		return "set " + p.Setting + ": " + p.kind() + p.Msg
	}
	return p.File + at + ": " + p.kind() + p.Msg
}

func (p Problem) kind() string {
	switch {
	case p.Hint:
		return "hint: "
	case p.Warning:
		return "warning: "
	}
	return ""
}

// Problems holds the problems of a file in its order. A Problems that is returned as an error holds at least one
// problem that is not a warning.
type Problems []Problem

// maxProblems is how many problems are reported for one file.
const maxProblems = 100

// Error returns the first error and the number of the others, for a log.
func (ps Problems) Error() string {
	errors, _ := ps.count()
	for _, p := range ps {
		switch {
		case p.Warning:
		case errors > 1:
			return fmt.Sprintf("%v (and %s more)", p, units.Plural(errors-1, "error"))
		default:
			return p.String()
		}
	}
	return "no errors"
}

// Text returns the whole report as config check prints it. It is empty if there are no problems.
func (ps Problems) Text() string {
	if len(ps) == 0 {
		return ""
	}
	var b strings.Builder
	for _, p := range ps {
		fmt.Fprintf(&b, "%v\n%s", p, p.Excerpt)
	}
	hints := 0
	for _, p := range ps {
		if p.Hint {
			hints++
		}
	}
	errors, warnings := ps.count()
	var sums []string
	for _, c := range []struct {
		n    int
		what string
	}{{errors, "error"}, {warnings - hints, "warning"}, {hints, "hint"}} {
		if c.n > 0 {
			sums = append(sums, units.Plural(c.n, c.what))
		}
	}
	fmt.Fprintln(&b, strings.Join(sums, ", "))
	return b.String()
}

func (ps Problems) count() (errors, warnings int) {
	for _, p := range ps {
		if p.Warning {
			warnings++
		} else {
			errors++
		}
	}
	return errors, warnings
}

// finish sorts the problems of a text, adds their excerpts and hides passwords. It removes duplicates, which aliases
// cause.
func (ps Problems) finish(file, text string) Problems {
	said := map[Problem]bool{}
	ps = slices.DeleteFunc(ps, func(p Problem) bool {
		again := said[p]
		said[p] = true
		return again
	})
	slices.SortStableFunc(ps, byPlace)
	p := pictures{rest: Hide(text)}
	for i := range ps {
		ps[i].Msg, ps[i].Setting = Hide(ps[i].Msg), Hide(ps[i].Setting)
		ps[i].File = file
		ps[i].Excerpt = p.excerpt(ps[i].Line, ps[i].Col)
	}
	return ps
}

func byPlace(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// clip prepares a text for a message: quoted, shortened, and without a password.
func clip(text string) string {
	text = Hide(text)
	if len(text) > 60 {
		return fmt.Sprintf("%.50q…", text)
	}
	return fmt.Sprintf("%q", text)
}
