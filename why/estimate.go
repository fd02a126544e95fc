package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
)

// text says when the job will start.
func (e *Estimate) text(b *strings.Builder, now time.Time) {
	b.WriteString("  Starts         ")
	sep := " "
	if e.By != nil {
		fmt.Fprintf(b, " by %s %s", instant.Clock(*e.By, now), e.Provided())
		if e.Node != "" {
			fmt.Fprintf(b, " (on %s)", e.Node)
		}
		if e.MayMove && !e.Kept {
			b.WriteString("; tasks that end early may change the order")
		}
		if e.AsOf != nil && now.Sub(*e.AsOf) >= time.Second {
			fmt.Fprintf(b, ", as of %s", e.AsOf.Local().Format("15:04:05"))
		}
		sep = "\n                  "
	} else if e.Text != "" {
		b.WriteString(" " + e.Text)
		sep = "\n                  "
	}
	if e.Replays > 0 && e.Early != nil {
		b.WriteString(sep + e.InReplays(now))
	}
	b.WriteString("\n")
}

// InReplays gives the range of start times in most replays, or the start time if there was only one replay.
func (e *Estimate) InReplays(now time.Time) string {
	of := fmt.Sprintf("most of %d replays", e.Replays)
	if e.Replays == 1 {
		of = "the only replay that finished in time,"
	}
	text := fmt.Sprintf("%s in %s with recent run times", span(*e.Early, *e.Late, now), of)
	switch {
	case e.Guess && e.Known == 0:
		text += "; a guess, because the run time of some tasks is not known yet"
	case e.Guess:
		text += fmt.Sprintf("; a guess, because the run time of some tasks is known from only %s", onlySome(e.Known))
	}
	return text
}

func onlySome(tasks int) string {
	if tasks == 1 {
		return "1 recent task"
	}
	return fmt.Sprint(tasks, " recent tasks")
}

// Provided states the condition under which the job starts by then.
func (e *Estimate) Provided() string {
	switch {
	case e.Kept && e.MayMove:
		return "if the order of the waiting jobs stays as it is"
	case e.Kept:
		return "because room is kept for it from then"
	}
	return "if every task uses its whole time limit and no new job goes ahead"
}

// span writes the range between two instants.
func span(from, to, now time.Time) string {
	if a, b := instant.Clock(from, now), instant.Clock(to, now); a != b {
		return "between " + a + " and " + b
	}
	return "at " + instant.Clock(from, now)
}
