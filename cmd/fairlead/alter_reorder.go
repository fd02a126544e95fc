package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
)

// reorder prints how the order of starts would change.
func (x *alteration) reorder(ctx context.Context, client *api.Client, ids []int64) error {
	if len(ids) > maxReorder {
		return usagef("--dry-run: at most %d jobs at once, not %d", maxReorder, len(ids))
	}
	r, err := client.Jobs.Reorder(ctx, api.ReorderRequest{
		Jobs: ids, Priority: x.raise.Priority, QOS: x.raise.QOS, Nice: x.raise.Nice,
	})
	if err != nil {
		return err
	}
	if x.json {
		return x.printJSON(r)
	}
	for i, m := range r.Jobs {
		if i == shown {
			fmt.Fprintf(x.out, "… and %d more\n", len(r.Jobs)-shown)
			break
		}
		fmt.Fprintf(x.out, "job %d %s (%s, %s): place %s\n", m.Job, m.Name, m.User, words.Pool(m.Pool),
			places(m.Before, m.After))
	}
	if left := len(ids) - len(r.Jobs); left > 0 {
		fmt.Fprintf(x.out, "%d of these jobs %s; the order does not depend on them\n", left, units.OneOf(left, "does not wait", "do not wait"))
	}
	fmt.Fprintf(x.out, "others: %d would start later", r.Later)
	for i, p := range r.Pools {
		if i == shown {
			fmt.Fprintf(x.out, ", … %d pools more", len(r.Pools)-shown)
			break
		}
		fmt.Fprintf(x.out, "%s%d of %s", []string{": ", ", "}[min(i, 1)], p.Jobs, words.Pool(p.Pool))
	}
	fmt.Fprintf(x.out, "; %d earlier\n", r.Sooner)
	if r.Looked > 0 {
		fmt.Fprintf(x.out, "(of the first %d starts)\n", r.Looked)
	}
	fmt.Fprintf(x.out, "nothing was changed; to do it: fairlead alter %s\n", x.flagsAgain(ids))
	return nil
}

// flagsAgain returns the arguments that make the change: the jobs as the user chose them, and the new values.
func (x *alteration) flagsAgain(ids []int64) string {
	parts := x.selection.again()
	if x.selection.empty() {
		for _, id := range ids {
			parts = append(parts, strconv.FormatInt(id, 10))
		}
	}
	if x.raise.Priority != "" {
		parts = append(parts, "--priority", words.ShellQuoted(x.raise.Priority))
	}
	if x.raise.QOS != nil {
		parts = append(parts, "--qos", words.ShellQuoted(*x.raise.QOS))
	}
	if x.raise.Nice != nil {
		parts = append(parts, "--nice", strconv.Itoa(*x.raise.Nice))
	}
	return strings.Join(parts, " ")
}

// maxReorder limits the number of jobs in one --dry-run.
const maxReorder = 10_000

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
