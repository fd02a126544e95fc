package fairlead

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/why"
)

// tellWindows says of a job what reservations and maintenances have to do with it.
func tellWindows(gates []why.Gate, limit time.Duration, now time.Time) {
	for i := range gates {
		g := &gates[i]
		switch w := g.Window; {
		case g.Code == why.ReservationOver && w == nil:
			g.Text = fmt.Sprintf("the reservation %s, for which it asks, is over or was cancelled", g.Where)
		case w == nil:
		case g.Open:
			g.Text = fmt.Sprintf("its reservation %s lasts until %s", w.Name, why.Clock(w.To, now))
		case g.Code == why.GateReservation:
			g.Text = fmt.Sprintf("its reservation %s begins at %s, in %s", w.Name, why.Clock(w.From, now), why.Until(w.From, now))
		case g.Code == why.ReservationOver:
			g.Text = fmt.Sprintf("its limit of %s is longer than what is left of its reservation %s, which ends at %s%s",
				units.FormatDuration(limit), w.Name, why.Clock(w.To, now), askFor(w))
		default:
			g.Text = overlapText(w, limit, now)
		}
	}
}

// overlapText says that a job would run into a window, and what would not.
func overlapText(w *why.Window, limit time.Duration, now time.Time) string {
	what := "reservation " + w.Name
	if w.Maintenance {
		what = "maintenance " + w.Name
	}
	if !w.From.After(now) {
		return fmt.Sprintf("the nodes on which it could run are kept by the %s until %s", what, why.Clock(w.To, now))
	}
	mine := "your limit of " + units.FormatDuration(limit) + " overlaps"
	if limit <= 0 {
		mine = "without a time limit it may run into"
	}
	return fmt.Sprintf("%s the %s starting in %s, at %s, until %s%s",
		mine, what, why.Until(w.From, now), why.Clock(w.From, now), why.Clock(w.To, now), askFor(w))
}

// shortWindow is the same for a column of a table.
func shortWindow(w *why.Window, now time.Time) string {
	what := w.Name
	if w.Maintenance {
		what = "maintenance " + w.Name
	}
	if !w.From.After(now) {
		return what + " until " + why.Clock(w.To, now)
	}
	return what + " from " + why.Clock(w.From, now) + askFor(w)
}

// askFor says which time limit would do, rounded down to what people write.
func askFor(w *why.Window) string {
	most := time.Duration(w.Most * float64(time.Second))
	for _, step := range []time.Duration{time.Hour, 5 * time.Minute, time.Minute} {
		if most >= 5*step || step == time.Minute && most >= step {
			// Some time goes by before it is submitted again.
			return fmt.Sprintf("; ask for %s or less", units.FormatDuration((most - time.Second).Truncate(step)))
		}
	}
	return ""
}

// windowReason tells of the reservation or maintenance that keeps a job from starting.
func (l *Loop) windowReason(j *Job, r *ShortReason, now time.Time) bool {
	if j.Reservation == "" && !l.core.Cluster().Windowed() {
		return false
	}
	gates := l.core.WindowGates(l.jobOf(headerOf(j)))
	tellWindows(gates, j.Limit, now)
	closed := closedGates(gates)
	if len(closed) == 0 {
		return false
	}
	g := closed[0]
	if r.Code, r.Text = g.Code, g.Text; keepsFree(g.Code) {
		r.Text = shortWindow(g.Window, now)
	} else {
		r.Rank = 0
	}
	return true
}

// keepsFree reports whether a code says that a job does not start where there is room,
// because of what comes later there.
func keepsFree(c why.Code) bool {
	return c == why.FitReserved || c == why.PolicyMaint || c == why.PolicyReservation
}

// windowState says in words that a node is in maintenance by a reservation.
func windowState(windows []why.Window, now time.Time) string {
	for _, w := range windows {
		if w.Maintenance && !w.From.After(now) {
			return fmt.Sprintf("maintenance: %s until %s", w.Name, why.Clock(w.To, now))
		}
	}
	return ""
}

// addWindows adds to a node what is kept on it, and when.
func (l *Loop) addWindows(v *NodeView, id cluster.NodeID, now time.Time) {
	v.Windows, v.Kept = l.core.WindowsOn(id), l.core.KeptOn(id)
	if len(v.Kept) > keptShown {
		v.Kept = v.Kept[:keptShown]
	}
	if text := windowState(v.Windows, now); text != "" && v.Why == "" {
		v.Why = text
	}
}

// keptShown bounds how many jobs are listed for which room is kept on a node.
const keptShown = 10
