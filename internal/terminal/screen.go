// Package terminal is a terminal for tests: a screen that executes the drawing sequences of programs, and the
// two ends of a real pseudo-terminal. The screen knows the output that a program such as fairlead top sends
// to an xterm. It panics on any other sequence that would change the picture, so that no test compares a
// wrong picture.
package terminal

import (
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// Screen shows what a person would see. Programs write to it as to a terminal.
type Screen struct {
	mu            sync.Mutex
	parser        *ansi.Parser
	width, height int
	main, other   grid
	x, y          int
	saved         [2]int
	top, bottom   int // region that scrolls
	style         string
	last          rune // last printed character
	wrap          bool // the cursor is past the last column

	alternate, hidden bool

	// Cooked is set if the kernel would put a carriage return before each new line.
	Cooked bool

	// Rang counts bells.
	Rang int
	// Styles counts the colors and other attributes that programs set.
	Styles map[string]int
}

type cell struct {
	text  string // "" after a wide character
	style string
}

type grid [][]cell

// Resize changes the size, as a person does with a window; cells that do not fit are lost.
func (s *Screen) Resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range []*grid{&s.main, &s.other} {
		n := make(grid, height)
		for y := range n {
			n[y] = blank(width)
			if y < len(*g) {
				copy(n[y], (*g)[y])
			}
		}
		*g = n
	}
	s.width, s.height, s.top, s.bottom = width, height, 0, height-1
	s.x, s.y = min(s.x, width-1), min(s.y, height-1)
}

func blank(width int) []cell {
	line := make([]cell, width)
	for i := range line {
		line[i].text = " "
	}
	return line
}

// Text returns the visible text, without blanks at the ends of the lines.
func (s *Screen) Text() string { return s.render(func(c cell) string { return c.text }) }

// Marked returns the text of each line that is shown in reverse.
func (s *Screen) Marked() []string {
	var lines []string
	all := s.render(func(c cell) string {
		if strings.Contains(";"+c.style+";", ";7;") {
			return c.text
		}
		return ""
	})
	for line := range strings.Lines(all) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (s *Screen) render(show func(cell) string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, line := range s.grid() {
		var l strings.Builder
		for _, c := range line {
			l.WriteString(show(c))
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Taken reports whether a program uses the alternate screen, or hides the cursor.
func (s *Screen) Taken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alternate || s.hidden
}

func (s *Screen) grid() grid {
	if s.alternate {
		return s.other
	}
	return s.main
}

func (s *Screen) print(r rune) {
	w := ansi.StringWidth(string(r))
	if w == 0 { // it combines with the character before
		if s.x > 0 {
			s.grid()[s.y][s.x-1].text += string(r)
		}
		return
	}
	if s.wrap {
		s.x, s.wrap = 0, false
		s.feed()
	}
	line := s.grid()[s.y]
	line[s.x] = cell{string(r), s.style}
	for i := s.x + 1; i < s.x+w && i < s.width; i++ {
		line[i] = cell{"", s.style}
	}
	s.last = r
	if s.x += w; s.x >= s.width {
		s.x, s.wrap = s.width-1, true
	}
}

// feed moves one line down, and scrolls at the end of the region.
func (s *Screen) feed() {
	if s.y == s.bottom {
		s.scroll(s.top, 1)
		return
	}
	s.y = min(s.height-1, s.y+1)
}

// scroll moves some lines up, or down if the argument "by" is negative. These are the lines between the line
// "from" and the end of the region.
func (s *Screen) scroll(from, by int) {
	g := s.grid()
	for ; by > 0; by-- {
		copy(g[from:s.bottom], g[from+1:s.bottom+1])
		g[s.bottom] = blank(s.width)
	}
	for ; by < 0; by++ {
		copy(g[from+1:s.bottom+1], g[from:s.bottom])
		g[from] = blank(s.width)
	}
}
