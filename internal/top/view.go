package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fairlead/fairlead/internal/words"
)

// Sizes of the screen.
const (
	narrow = 20 // columns; a narrower screen shows nothing useful
	flat   = 14 // lines; a lower screen shows one pane only
)

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "fairlead top"
	return v
}

// screen returns the lines of the screen: as many as fit, none too wide.
func (m *model) screen() []string {
	if m.width < narrow || m.height < 4 {
		return []string{fit("too small", m.width)}
	}
	lines := m.head()
	lines = append(lines, m.body(m.height-len(lines)-1)...)
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:m.height-1], m.foot())
	for i, line := range lines {
		lines[i] = fit(line, m.width)
	}
	return lines
}

func (m *model) body(height int) []string {
	switch {
	case m.detail != nil:
		return append([]string{titleStyle.Render(m.detail.title)}, m.detail.draw(m.width, height-1)...)
	case m.data.shares == nil:
		return nil
	case height < flat:
		return m.one(m.focus, height)
	}
	upper := m.one(pools, min(height/2, len(m.data.shares.Pools)+2))
	return append(upper, m.one(m.lower, height-len(upper))...)
}

// one returns the lines of one pane, its title first.
func (m *model) one(pane, height int) []string {
	p, focus := &m.panes[pane], pane == m.focus
	draw, title := m.drawPools, "pools"
	switch pane {
	case jobs:
		draw, title = m.drawJobs, m.jobsTitle()
	case nodes:
		draw, title = m.drawNodes, fmt.Sprintf("nodes: %d", len(m.data.nodes.Nodes))
	case pools:
		if m.within != "" {
			title = "pools in " + clean(m.within)
		}
	}
	lines := draw(m.width, height-1, focus)
	if p.sort > 0 {
		title += " · by " + p.sorts[p.sort]
	}
	if p.filter != "" {
		title += fmt.Sprintf(" · filter %q (%d)", clean(p.filter), len(p.rows))
	}
	if hidden := len(p.rows) - p.from - (len(lines) - 1); hidden > 0 {
		title += fmt.Sprintf(" · %d more below", hidden)
	}
	if focus {
		title = titleStyle.Render("* " + title)
	} else {
		title = headStyle.Render("  " + title)
	}
	return append([]string{title}, lines...)
}

// head describes the cluster: the health of the scheduler, the use of the nodes, and the fairness.
func (m *model) head() []string {
	d := &m.data
	if d.shares == nil {
		line := titleStyle.Render("fairlead") + "  connecting ..."
		if m.problem != nil {
			line = titleStyle.Render("fairlead") + "  " + badStyle.Render(clean(m.problem.Error()))
		}
		return append([]string{line}, m.troubles()...)
	}
	s := d.shares.Summary
	last := "never"
	if s.LastStep != nil {
		last = words.Span(d.shares.At.Sub(*s.LastStep)) + " ago"
	}
	width := min(40, m.width/4)
	clock := "15:04:05"
	if m.width >= 100 {
		clock += " MST"
	}
	parts := []string{
		titleStyle.Render("fairlead"), d.shares.At.Local().Format(clock),
		fmt.Sprintf("%s %s %d/%d", s.Unit, gauge(s.Capacity[s.Unit]-s.Free[s.Unit], s.Capacity[s.Unit], width),
			s.Capacity[s.Unit]-s.Free[s.Unit], s.Capacity[s.Unit]),
	}
	for _, l := range d.limits.Licenses {
		parts = append(parts, fmt.Sprintf("lic %s %s %d/%d", clean(l.Name), gauge(l.Used, l.Total, 5), l.Used, l.Total))
	}
	first := strings.Join(append(parts, fmt.Sprintf("step %s, %s starts/s", last, m.starts.text())), "  ")
	second := clean(words.Fairness(d.shares))
	switch {
	case m.problem != nil:
		second = badStyle.Render(fmt.Sprintf("as of %s: %s", d.shares.At.Local().Format("15:04:05"),
			clean(m.problem.Error())))
	case m.paused:
		second = titleStyle.Render("PAUSED") + " since " + d.shares.At.Local().Format("15:04:05") + " (p resumes)"
	}
	return append([]string{first, second}, m.troubles()...)
}

// foot returns the last line: the text being typed, a message, or the keys.
func (m *model) foot() string {
	switch {
	case m.prompt != nil:
		text := m.prompt.label + m.prompt.text
		if over := lipgloss.Width(text) + 1 - m.width; over > 0 {
			text = ansi.TruncateLeft(text, over, "")
		}
		return text + markStyle.Render(" ")
	case m.note != "":
		return m.note
	case m.detail != nil:
		return headStyle.Render("up/down  Esc back  q quit")
	}
	return headStyle.Render("? help  Tab pane  Enter in  w why  s sort  / filter  n nodes  b boost  p pause  q quit")
}
