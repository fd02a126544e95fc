package words

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
)

// Paused describes the tasks that a pause affects.
func Paused(p *api.PauseResponse) string {
	text := fmt.Sprintf("running tasks continue: %d; waiting tasks: %d", p.Tasks, p.Waiting-int64(p.Queued))
	if p.Queued > 0 {
		text += fmt.Sprintf("; tasks in another queueing system may start there: %d", p.Queued)
	}
	return text
}

// PauseRest returns the rest of a pause in the form of --for, to the minute above an hour, and "" if the
// pause lasts until it is resumed.
func PauseRest(p engine.Pause, now time.Time) string {
	if p.Until.IsZero() {
		return ""
	}
	rest, to := p.Until.Sub(now), time.Second
	if rest > time.Hour {
		to = time.Minute
	}
	return units.FormatDuration(max(rest.Round(to), to))
}

// PauseAgain returns the command that makes the same pause again.
func PauseAgain(p engine.Pause, now time.Time) string {
	text := "fairlead pause " + ShellPool(p.Pool)
	if rest := PauseRest(p, now); rest != "" {
		text += " --for " + rest
	}
	return text + ReasonFlag(p.Reason)
}

// ReasonFlag returns the flag that gives a reason again, with a space before it; nothing if there was none.
func ReasonFlag(reason string) string {
	if reason == "" {
		return ""
	}
	return " --reason " + ShellQuoted(reason)
}

// Tasks counts tasks.
func Tasks(n int64) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}
