package top

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// prompt is a line at the foot of the screen into which the user types.
type prompt struct {
	label   string
	text    string
	changed func(text string)         // called after each key, if it is not nil
	done    func(text string) tea.Cmd // called at the end
	left    func()                    // called if the user gives up
}

// maxText bounds the typed text.
const maxText = 200

func (p *prompt) add(text string) {
	if p.text += clean(text); len(p.text) > maxText {
		p.text = strings.ToValidUTF8(p.text[:maxText], "")
	}
	p.change()
}

func (p *prompt) change() {
	if p.changed != nil {
		p.changed(p.text)
	}
}
