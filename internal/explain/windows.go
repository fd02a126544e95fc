package explain

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/why"
)

// shortWindow describes a window for a column of a table.
func shortWindow(w *why.Window, now time.Time) string {
	what := w.Name
	if w.Maintenance {
		what = "maintenance " + w.Name
	}
	if !w.From.After(now) {
		return what + " until " + instant.Text(w.To)
	}
	return what + " from " + instant.Text(w.From) + askFor(w)
}

// WindowState describes the maintenance that a node is in; "" if none.
func WindowState(windows []why.Window, now time.Time) string {
	for _, w := range windows {
		if w.Maintenance && !w.From.After(now) {
			return fmt.Sprintf("maintenance: %s until %s", w.Name, instant.Text(w.To))
		}
	}
	return ""
}
