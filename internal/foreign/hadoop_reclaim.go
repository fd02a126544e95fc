package foreign

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// noReclaim is the reason why a setting is left out in a version without reclaim in its configuration.
const noReclaim = "this version does not stop running tasks for other pools; free resources go first to pools below their minimum"

// forever is a timeout that counts as endless.
const forever = 3650 * 86400 // seconds

// timeout reads the time after which tasks are preempted for a queue.
func (h *hadoop) timeout(p *pool, where string, e *element, to *time.Duration) {
	n, err := strconv.ParseInt(e.text, 10, 64)
	switch {
	case err != nil || n < 0:
		h.add(e.line, where, e.name, e.text, Left, "it is not a number of seconds")
	case n > forever && (p.isRoot() || !h.can.Reclaim):
		h.add(e.line, where, e.name, e.text, Needless, "it is longer than ten years; the default is never")
	case !h.can.Reclaim:
		h.add(e.line, where, e.name, e.text, Left, noReclaim)
	case n == 0:
		h.add(e.line, where, e.name, e.text, Left,
			"the delay must be above 0 here; set reclaim of the pool to 1s or more")
	default:
		h.timeouts = true
		if *to = time.Duration(n) * time.Second; n > forever {
			*to = -1
		}
		h.add(e.line, where, e.name, e.text, Taken, "")
	}
}

// threshold reads the part of its share below which a queue may preempt.
func (h *hadoop) threshold(p *pool, where string, e *element) {
	v, err := strconv.ParseFloat(e.text, 64)
	percent := math.Round(min(v, 1)*1e5) / 1e3
	switch {
	case err != nil || !(percent > 0):
		h.add(e.line, where, e.name, e.text, Left,
			"it is not a fraction above 0; for a pool without share_after no task is stopped to give it its share")
	case !h.can.Reclaim:
		h.add(e.line, where, e.name, e.text, Left, noReclaim)
	default:
		p.reclaim.below = percent
		h.add(e.line, where, e.name, e.text, Taken, "")
	}
}

// exempt reads whether tasks of a queue may be preempted for others.
func (h *hadoop) exempt(p *pool, e *element) {
	switch {
	case strings.EqualFold(e.text, "true"):
		h.add(e.line, p.where, e.name, e.text, Needless, "it is the default")
	case !h.can.Reclaim:
		h.add(e.line, p.where, e.name, e.text, Needless, "this version does not stop running tasks for other pools")
	default:
		p.reclaim.protect = true
		h.add(e.line, p.where, e.name, e.text, Taken, "")
	}
}

// patience writes Hadoop's default explicitly: a queue below its minimum waits and never preempts.
func (h *hadoop) patience() {
	h.root.all(func(p *pool) {
		if h.can.Reclaim && len(p.min) > 0 && h.root.reclaim.minAfter == 0 {
			h.root.reclaim.minAfter = -1
		}
	})
}
