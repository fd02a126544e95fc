package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/words"
)

// shown limits how many lines of one kind are printed.
const shown = 10

// printMoved prints the places of jobs in the order of starts before and after a change.
func printMoved(out io.Writer, jobs []forecast.Moved) {
	for i, m := range jobs {
		if i == shown {
			fmt.Fprintf(out, "… and %d more\n", len(jobs)-shown)
			break
		}
		fmt.Fprintf(out, "job %d %s (%s, %s): place %s\n", m.Job, m.Name, m.User, words.Pool(m.Pool),
			places(m.Before, m.After))
	}
}

// printOthers prints how many other jobs the change moves.
func printOthers(out io.Writer, r *forecast.Reordering) {
	fmt.Fprintf(out, "others: %d would start later", r.Later)
	for i, p := range r.Pools {
		if i == shown {
			fmt.Fprintf(out, ", … %d pools more", len(r.Pools)-shown)
			break
		}
		fmt.Fprintf(out, "%s%d of %s", []string{": ", ", "}[min(i, 1)], p.Jobs, words.Pool(p.Pool))
	}
	fmt.Fprintf(out, "; %d earlier\n", r.Sooner)
	if r.Looked > 0 {
		fmt.Fprintf(out, "(of the first %d starts)\n", r.Looked)
	}
}

// places writes the place of a job before and after the change.
func places(before, after int64) string {
	name := func(place int64) string {
		if place == 0 {
			return "none"
		}
		return strconv.FormatInt(place, 10)
	}
	if before == after {
		return name(before) + ", as before"
	}
	return name(before) + " -> " + name(after)
}
