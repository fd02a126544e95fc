package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
)

// when writes the instants from which the room is kept and from which nodes are held for the job. It marks
// predicted instants as such.
func (k *Kept) when(now time.Time) (from, held string) {
	if from = instant.Clock(k.From, now); k.HeldFrom != nil {
		from, held = instant.Clock(k.From, now, *k.HeldFrom), instant.Clock(*k.HeldFrom, now, k.From)
	}
	switch {
	case k.Overdue:
		from = "the end of the tasks that run there"
	case k.Predicted:
		from = "about " + from
	}
	return from, held
}

// text says where and from when room is kept for the job, and how certain that is.
func (k *Kept) text(now time.Time) string {
	nodes := strings.Join(k.Nodes, ", ")
	from, held := k.when(now)
	const predicted = "as predicted from tasks like the running ones"
	switch {
	case k.Held && k.Overdue && len(k.Nodes) > 0:
		return fmt.Sprintf("is held for it on %s, as it has waited for long: it starts when the tasks that run there have "+
			"ended, which run for longer than predicted", nodes)
	case k.Held && len(k.Nodes) > 0:
		text := fmt.Sprintf("is held for it on %s, as it has waited for long: it starts when the tasks there have ended, "+
			"by %s", nodes, from)
		if k.Predicted {
			text += " " + predicted
		}
		return text
	case !k.Predicted:
		return fmt.Sprintf("is kept for it on %s from %s", nodes, from)
	case k.Overdue:
		return fmt.Sprintf("is kept for it on %s from %s, which run for longer than predicted", nodes, from)
	}
	text := fmt.Sprintf("is kept for it on %s from %s, %s", nodes, from, predicted)
	if k.HeldFrom != nil {
		text += fmt.Sprintf("; if it still waits after %s, nodes are held for it until tasks there have ended", held)
	}
	return text
}
