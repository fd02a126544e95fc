package top

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead/fairlead/queue"
)

func newModel(ctx context.Context, s source, happenings <-chan struct{}) *model {
	m := &model{ctx: ctx, source: s, happenings: happenings, lower: jobs}
	m.panes = [3]pane{{sorts: poolSorts}, {sorts: jobSorts}, {sorts: nodeSorts}}
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.Batch(m.look(), listen(m.happenings), m.feel(0)) }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case seen:
		return m, m.saw(msg)
	case felt:
		m.health = msg.health
		return m, m.feel(feelEvery)
	case eventSeen:
		cmd := listen(m.happenings)
		if !m.paused && m.turn.happens() {
			cmd = tea.Batch(cmd, m.look())
		}
		return m, cmd
	case tick:
		look, wait := m.turn.passes(msg)
		if look {
			return m, m.look()
		}
		return m, m.after(wait)
	case boosted:
		m.note = msg.text
		return m, m.look()
	case tea.PasteMsg:
		if m.prompt != nil {
			m.prompt.add(msg.Content)
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

// saw takes the answer of a refresh, and schedules the next one.
func (m *model) saw(v seen) tea.Cmd {
	if v.of.number != m.turn.number {
		return nil // the screen shows something else now
	}
	if errors.Is(v.err, queue.ErrNotFound) && m.leave() {
		m.note = clean(v.err.Error())
		return m.look()
	}
	if m.problem = v.err; v.err == nil {
		m.data, m.since = v, time.Time{}
		m.starts.see(v.shares.Summary.Started, v.shares.At)
		if m.detail != nil {
			m.detail.lines = v.detail
		}
	} else if m.since.IsZero() {
		m.since = v.ended
	}
	return m.after(m.turn.ends(v.ended.Sub(v.began)))
}
