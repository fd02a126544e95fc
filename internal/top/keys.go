package top

import (
	tea "charm.land/bubbletea/v2"
)

// helpText is the page of the keys.
const helpText = `KEYS

  up down, k j      select            Tab          pools, queue, nodes
  PgUp PgDn         a page            n            nodes instead of the queue
  Home End, g G     first and last    s            next order
  Enter             open a pool; why, of a job or a node
  Backspace, Esc    back              /            filter: words, or user:ann st:w
  w                 why, of a pool, a job or a node
  b                 boost the selected pool
  p, Space          pause, resume     r            refresh now
  ?                 this page         q, Ctrl-C    quit

POOLS

  SHARE is the part of the parent pool to which a pool is entitled, PAST USE its decayed usage.
  In the bar | is the share: # is the used part, dots are the unused part, and # behind the mark
  is above the share. COMPARED BY is the key with which the policy of the parent pool decides
  which pool is next. SERVED is the part of its entitlement that the pool received in the last
  day. LAG is the difference in hours of the unit: below 0 the pool is ahead. RUN and DEMAND are
  in units of running tasks and of all tasks.

QUEUE

  Running jobs come first, then waiting jobs in the order of starts. RANK is the place in that
  order, START the latest start if every task uses its time limit and no new job goes ahead.`

// key handles a key.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	if m.prompt != nil {
		return m.answerPrompt(k)
	}
	m.note = ""
	switch k.String() {
	case "q":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "p", "space":
		return m.pause()
	case "r":
		return m.look()
	case "?", "h":
		m.detail = &reader{title: "help", lines: linesOf(helpText)}
	case "esc", "backspace", "left":
		return m.back()
	case "w":
		return m.why()
	case "enter", "right":
		return m.enter()
	default:
		return m.keyOfPane(k.String())
	}
	return nil
}

// keyOfPane handles the keys that move in a pane, or change it.
func (m *model) keyOfPane(k string) tea.Cmd {
	p := &m.panes[m.focus]
	move := p.move
	if m.detail != nil {
		move = m.detail.move
	}
	page := max(1, m.height/2-2)
	switch k {
	case "up", "k":
		move(-1)
	case "down", "j":
		move(1)
	case "pgup":
		move(-page)
	case "pgdown":
		move(page)
	case "home", "g":
		move(-1 << 30)
	case "end", "G":
		move(1 << 30)
	}
	if m.detail != nil || m.data.shares == nil {
		return nil
	}
	switch k {
	case "tab":
		m.focusOn((m.focus + 1) % len(m.panes))
	case "shift+tab":
		m.focusOn((m.focus + len(m.panes) - 1) % len(m.panes))
	case "n":
		if m.lower == nodes {
			m.focusOn(jobs)
		} else {
			m.focusOn(nodes)
		}
	case "s":
		p.sort = (p.sort + 1) % len(p.sorts)
	case "/":
		m.prompt = m.askFilter()
	case "b":
		m.prompt = m.askBoost()
	}
	return nil
}

func (m *model) focusOn(pane int) {
	if m.focus = pane; pane != pools {
		m.lower = pane
	}
}

// pause pauses refreshing, or continues it.
func (m *model) pause() tea.Cmd {
	if m.paused = !m.paused; m.paused {
		m.turn.stop()
		return nil
	}
	return m.look()
}

// back leaves a page, a filter or a pool, whichever is innermost.
func (m *model) back() tea.Cmd {
	switch {
	case m.detail == nil && m.panes[m.focus].filter != "":
		m.panes[m.focus].filter = ""
	case m.leave():
		return m.look()
	}
	return nil
}

// enter opens a pool, or asks for the explanation.
func (m *model) enter() tea.Cmd {
	key := m.panes[m.focus].key
	if m.focus != pools || m.detail != nil || key == m.within || key == "" {
		return m.why()
	}
	m.within, m.panes[pools].filter, m.lower = key, "", jobs
	m.panes[jobs] = pane{sorts: jobSorts, sort: m.panes[jobs].sort}
	return m.look()
}

// why asks for the explanation of the selected row.
func (m *model) why() tea.Cmd {
	key := m.panes[m.focus].key
	if m.detail != nil || key == "" {
		return nil
	}
	title := map[int]string{pools: "why pool ", jobs: "why ", nodes: "node "}[m.focus] + clean(key)
	m.detail = &reader{of: subject{m.focus, key}, title: title}
	return m.look()
}

// leave leaves the page or the pool, and reports whether there was one.
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
