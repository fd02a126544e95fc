package words

import (
	"fmt"

	"github.com/fairlead/fairlead/internal/api"
)

// Paused says whom a pause hits.
func Paused(p *api.PauseResponse) string {
	text := fmt.Sprintf("running, and going on: %s; waiting: %s", Tasks(int64(p.Tasks)), Tasks(p.Waiting-int64(p.Queued)))
	if p.Queued > 0 {
		text += fmt.Sprintf("; in another queueing system, where they may start: %s", Tasks(int64(p.Queued)))
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
