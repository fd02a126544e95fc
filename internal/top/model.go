package top

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead/fairlead/internal/api"
)

// model holds the contents of the screen. It is the only state; Update changes it, and View draws it.
type model struct {
	ctx        context.Context
	source     source
	happenings <-chan struct{}

	width, height int
	data          seen // of the last refresh that was answered
	problem       error
	since         time.Time // of the problem
	starts        rate
	health        *api.Diagnosis // nil while the server does not answer

	panes  [3]pane
	focus  int    // pane
	lower  int    // the pane below the pools
	within string // a pool; only this pool and the pools below it are shown
	detail *reader
	prompt *prompt
	note   string
	paused bool
	turn   turns
}

// look requests the data that the screen shows now.
func (m *model) look() tea.Cmd {
	q := question{number: m.turn.begin(), pool: m.within}
	if m.detail != nil {
		q.detail = m.detail.of
	}
	return look(m.ctx, m.source, q)
}

// after sets a tick.
func (m *model) after(wait time.Duration) tea.Cmd {
	if wait == 0 || m.paused {
		return nil
	}
	number := tick(m.turn.ticks)
	return tea.Tick(wait, func(time.Time) tea.Msg { return number })
}
