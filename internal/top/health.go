package top

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/internal/words"
)

// felt is the health that the server reports; nil if it did not answer.
type felt struct{ health *api.Diagnosis }

// How often the health is requested, and how long an answer may take. It is requested separately, because the other
// data come late or not at all while something does not work.
const (
	feelEvery = 2 * time.Second
	feelWait  = 3 * time.Second
)

// feel requests the health after a time.
func (m *model) feel(after time.Duration) tea.Cmd {
	return func() tea.Msg {
		if after > 0 && !wait.For(m.ctx, after) {
			return nil
		}
		ctx, cancel := context.WithTimeout(m.ctx, feelWait)
		defer cancel()
		h, err := m.source.Health(ctx)
		if err != nil {
			return felt{}
		}
		return felt{h}
	}
}

// Bounds of the lines about checks that found a problem: the number of checks, and the number of lines about the worst.
const (
	maxTroubles   = 3
	maxWorstLines = 4
)

// troubles returns the lines about checks that found a problem: several lines about the worst if the terminal is
// narrow, and one line about each other.
func (m *model) troubles() []string {
	if m.health == nil {
		return nil
	}
	var lines []string
	for i, c := range m.health.Checks {
		style := overStyle
		if c.Result == api.ResultFail {
			style = badStyle
		}
		if i == maxTroubles-1 && len(m.health.Checks) > maxTroubles {
			more := fmt.Sprintf("! and %d more: fairlead doctor", len(m.health.Checks)-i)
			return append(lines, style.Render(more))
		}
		text := []string{clean("! " + words.Trouble(c))}
		if i == 0 {
			text = wrap(text[0], m.width)
			text = text[:min(len(text), maxWorstLines)]
		}
		for _, line := range text {
			lines = append(lines, style.Render(line))
		}
	}
	return lines
}
