package top

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead/fairlead"
)

// The panes, in the order in which Tab goes through them.
const (
	pools = iota
	jobs
	nodes
)

// model is what is on the screen. It is the only state there is; Update changes it, and
// View draws it.
type model struct {
	ctx        context.Context
	source     Source
	happenings <-chan struct{}

	width, height int
	data          seen // of the last look that was answered
	problem       error
	since         time.Time // of the problem
	starts        rate

	panes  [3]pane
	focus  int    // pane
	lower  int    // pane that is shown below the pools
	within string // pool; only it and those below it are shown
	detail *reader
	prompt *prompt
	note   string
	paused bool
	turn   turns
}

func newModel(ctx context.Context, s Source, happenings <-chan struct{}) *model {
	m := &model{ctx: ctx, source: s, happenings: happenings, lower: jobs}
	m.panes = [3]pane{{sorts: poolSorts}, {sorts: jobSorts}, {sorts: nodeSorts}}
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.Batch(m.look(), listen(m.happenings)) }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case seen:
		return m, m.saw(msg)
	case happened:
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

// look asks for what the screen shows now.
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

// saw takes over what a look brought, and says when the next one is due.
func (m *model) saw(v seen) tea.Cmd {
	if v.of.number != m.turn.number {
		return nil // something else is looked at by now
	}
	if errors.Is(v.err, fairlead.ErrNotFound) && m.leave() {
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

// leave goes out of a job or a pool, if it is in one.
func (m *model) leave() bool {
	switch {
	case m.detail != nil:
		m.detail = nil
	case m.within != "":
		m.panes[pools].key, m.panes[jobs] = m.within, pane{sorts: jobSorts, sort: m.panes[jobs].sort}
		m.within = above(m.within)
	default:
		return false
	}
	return true
}
