package top

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// prompt is a line at the foot of the screen that its user writes.
type prompt struct {
	label   string
	text    string
	changed func(text string)         // after each key, if it is not nil
	done    func(text string) tea.Cmd // at the end
	left    func()                    // if it is given up
}

// maxText bounds the text that can be written.
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
