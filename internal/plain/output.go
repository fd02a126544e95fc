package plain

import (
	"bytes"
	"io"
	"strconv"

	"github.com/charmbracelet/x/ansi"
)

// Output passes on the output of a program in a form that is safe for a terminal: it keeps colors, and
// progress bars that overwrite their line. It removes all other control sequences, such as sequences that
// move the cursor, clear the screen, or set its title or the clipboard.
type Output struct {
	to       io.Writer
	parser   *ansi.Parser
	made     bytes.Buffer
	coloured bool
}

// NewOutput returns a writer to a terminal.
func NewOutput(terminal io.Writer) *Output {
	o := &Output{to: terminal, parser: ansi.NewParser()}
	o.parser.SetHandler(ansi.Handler{Print: o.print, Execute: o.control, HandleCsi: o.csi})
	return o
}

// Write passes p on.
func (o *Output) Write(p []byte) (int, error) {
	o.made.Reset()
	o.parser.Parse(p)
	if _, err := o.to.Write(o.made.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close restores the terminal's own colors.
func (o *Output) Close() error {
	if !o.coloured {
		return nil
	}
	_, err := io.WriteString(o.to, "\x1b[0m")
	return err
}

func (o *Output) print(r rune) {
	if obeyed(r) {
		r = '?'
	}
	o.made.WriteRune(r)
}

func (o *Output) control(b byte) {
	if b == '\n' || b == '\t' || b == '\r' {
		o.made.WriteByte(b)
	}
}

// csi lets through sequences that set colors and similar attributes.
func (o *Output) csi(c ansi.Cmd, params ansi.Params) {
	if c.Final() != 'm' || c.Prefix() != 0 || c.Intermediate() != 0 {
		return
	}
	o.coloured = true
	o.made.WriteString("\x1b[")
	for i, p := range params {
		if n := p.Param(-1); n >= 0 {
			o.made.WriteString(strconv.Itoa(n))
		}
		switch {
		case p.HasMore():
			o.made.WriteByte(':')
		case i < len(params)-1:
			o.made.WriteByte(';')
		}
	}
	o.made.WriteByte('m')
}
