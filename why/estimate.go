package why

import (
	"fmt"
	"strings"
	"time"
)

// text says when the job will start.
func (e *Estimate) text(b *strings.Builder, now time.Time) {
	b.WriteString("  Starts         ")
	sep := " "
	if e.By != nil {
		provided := "if every task runs as long as it may and nobody new goes ahead"
		if e.Kept {
			provided = "as room is kept for it"
		}
		fmt.Fprintf(b, " by %s %s", Clock(*e.By, now), provided)
		if e.Node != "" {
			fmt.Fprintf(b, " (on %s)", e.Node)
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
		fmt.Fprintf(b, "%s%s in most of %d replays with run times as they were lately", sep, Span(*e.Early, *e.Late, now), e.Replays)
	}
	b.WriteString("\n")
}

// Span says between which instants something happens.
func Span(from, to, now time.Time) string {
	if a, b := Clock(from, now), Clock(to, now); a != b {
		return "between " + a + " and " + b
	}
	return "at " + Clock(from, now)
}
