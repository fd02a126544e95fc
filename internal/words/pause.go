package words

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
)

// Paused says whom a pause hits.
func Paused(p *api.PauseResponse) string {
	text := fmt.Sprintf("running, and going on: %s; waiting: %s", Tasks(int64(p.Tasks)), Tasks(p.Waiting-int64(p.Queued)))
	if p.Queued > 0 {
		text += fmt.Sprintf("; in another queueing system, where they may start: %s", Tasks(int64(p.Queued)))
	}
	return text
}

// PauseRest is how much of a pause is left, as --for takes it, and of hours to the minute; "" if it
// lasts until it is resumed.
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

// PauseAgain is the command that makes a pause as it is.
func PauseAgain(p engine.Pause, now time.Time) string {
	text := "fairlead pause " + ShellPool(p.Pool)
	if rest := PauseRest(p, now); rest != "" {
		text += " --for " + rest
	}
	if p.Reason != "" {
		text += " --reason " + ShellQuoted(p.Reason)
	}
	return text
}

// Tasks counts tasks.
func Tasks(n int64) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}
