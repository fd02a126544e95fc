package top

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/internal/words"
	"github.com/fairlead/fairlead/why"
)

// answerPrompt handles a key while the user types into the prompt.
func (m *model) answerPrompt(k tea.KeyPressMsg) tea.Cmd {
	p := m.prompt
	switch k.String() {
	case "enter":
		m.prompt = nil
		return p.done(p.text)
	case "esc":
		m.prompt = nil
		p.left()
	case "backspace":
		if r := []rune(p.text); len(r) > 0 {
			p.text = string(r[:len(r)-1])
			p.change()
		}
	case "ctrl+u":
		p.text = ""
		p.change()
	default:
		p.add(k.Text)
	}
	return nil
}

// askFilter filters the pane while the user types.
func (m *model) askFilter() *prompt {
	pane := &m.panes[m.focus]
	before := pane.filter
	return &prompt{
		label: "/", text: pane.filter,
		changed: func(text string) { pane.filter = text },
		done:    func(string) tea.Cmd { return nil },
		left:    func() { pane.filter = before },
	}
}

// askBoost asks for a boost of the selected pool.
func (m *model) askBoost() *prompt {
	pool := m.panes[pools].key
	if m.focus != pools || pool == "" {
		m.note = "select the pool to boost"
		return nil
	}
	return &prompt{
		label: "boost " + clean(pool) + " (factor, time): ", text: "x2 for 1h",
		done: func(text string) tea.Cmd { return boost(m.ctx, m.source, pool, text) },
		left: func() {},
	}
}

// boosted describes the result of a boost.
type boosted struct{ text string }

func boost(ctx context.Context, s source, pool, text string) tea.Cmd {
	return func() tea.Msg {
		r, err := parseBoost(pool, text)
		if err != nil {
			return boosted{clean(err.Error())}
		}
		out, err := s.Boost(ctx, r)
		if err != nil {
			return boosted{clean(err.Error())}
		}
		return boosted{fmt.Sprintf("boost %d: %s x%s for %s; weight %s -> %s, share %s -> %s; undo: fairlead boost --cancel %d",
			out.Boost.ID, clean(words.Pool(out.Boost.Pool)), why.Short(out.Boost.Factor),
			words.Span(words.Seconds(r.ForSeconds)),
			why.Short(out.Weight.Old), why.Short(out.Weight.New), words.Percent(out.Share.Old), words.Percent(out.Share.New), out.Boost.ID)}
	}
}

// parseBoost reads "x2 for 1h".
func parseBoost(pool, text string) (api.BoostRequest, error) {
	r := api.BoostRequest{Pool: pool, Reason: "from top"}
	f := strings.Fields(text)
	if len(f) == 3 && f[1] == "for" {
		f = []string{f[0], f[2]}
	}
	if len(f) != 2 {
		return r, errors.New("not a boost: expected a factor and a time, such as x2 for 1h")
	}
	factor, err := config.ParseFactor(f[0])
	if err != nil {
		return r, fmt.Errorf("not a boost: %w", err)
	}
	d, err := units.ParseDuration(f[1])
	if err == nil && d < time.Second {
		err = errors.New("a boost lasts at least 1s")
	}
	if err != nil {
		return r, fmt.Errorf("not a boost: %w", err)
	}
	r.Factor, r.ForSeconds = factor, d.Seconds()
	return r, nil
}
