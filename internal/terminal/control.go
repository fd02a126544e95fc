package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// csi executes a control sequence.
func (s *Screen) csi(c ansi.Cmd, params ansi.Params) {
	s.wrap = false
	n := func(i, def int) int { v, _, _ := params.Param(i, def); return max(v, min(def, 1)) }
	switch {
	case c.Prefix() == '?' && (c.Final() == 'h' || c.Final() == 'l'):
		s.mode(params, c.Final() == 'h')
		return
	case c.Prefix() != 0 || c.Intermediate() != 0:
		return // a query, or a setting of the keyboard: nothing visible
	}
	line := s.grid()[s.y]
	switch c.Final() {
	case 'A':
		s.y = max(0, s.y-n(0, 1))
	case 'B', 'e':
		s.y = min(s.height-1, s.y+n(0, 1))
	case 'C', 'a':
		s.x = min(s.width-1, s.x+n(0, 1))
	case 'D':
		s.x = max(0, s.x-n(0, 1))
	case 'G', '`':
		s.x = min(s.width-1, n(0, 1)-1)
	case 'd':
		s.y = min(s.height-1, n(0, 1)-1)
	case 'H', 'f':
		s.y, s.x = min(s.height-1, n(0, 1)-1), min(s.width-1, n(1, 1)-1)
	case 'I':
		s.x = min(s.width-1, (s.x/8+n(0, 1))*8)
	case 'Z':
		s.x = max(0, ((s.x+7)/8-n(0, 1))*8)
	case 'J':
		s.eraseDisplay(n(0, 0))
	case 'K':
		s.eraseLine(n(0, 0))
	case 'X':
		copy(line[s.x:min(s.width, s.x+n(0, 1))], blank(s.width))
	case 'P':
		k := min(n(0, 1), s.width-s.x)
		copy(line[s.x:], append(slices.Clone(line[s.x+k:]), blank(k)...))
	case '@':
		k := min(n(0, 1), s.width-s.x)
		copy(line[s.x:], append(blank(k), slices.Clone(line[s.x:s.width-k])...))
	default:
		s.csiOfLines(c.Final(), n, params)
	}
}

// csiOfLines executes sequences that scroll, move lines, or change the style of text.
func (s *Screen) csiOfLines(final byte, n func(i, def int) int, params ansi.Params) {
	switch final {
	case 'L':
		s.scroll(s.y, -n(0, 1))
	case 'M':
		s.scroll(s.y, n(0, 1))
	case 'S':
		s.scroll(s.top, n(0, 1))
	case 'T':
		s.scroll(s.top, -n(0, 1))
	case 'r':
		s.top, s.bottom = n(0, 1)-1, n(1, s.height)-1
		if s.bottom <= 0 {
			s.bottom = s.height - 1
		}
		s.x, s.y = 0, 0
	case 'b':
		for range n(0, 1) {
			s.print(s.last)
		}
	case 'm':
		s.attributes(params)
	case 'h', 'l', 'n', 'c', 't', 'q', 'W', 'g':
	default:
		panic(fmt.Sprintf("the screen does not know CSI %c", final))
	}
}

// mode sets the private modes of the cursor (25) and of the alternate screen (47, 1047, 1049).
func (s *Screen) mode(params ansi.Params, on bool) {
	params.ForEach(0, func(_, mode int, _ bool) {
		switch mode {
		case 25:
			s.hidden = !on
		case 1049, 1047, 47:
			if on && !s.alternate {
				s.saved = [2]int{s.x, s.y}
				for y := range s.other {
					s.other[y] = blank(s.width)
				}
			} else if !on && s.alternate {
				s.x, s.y = s.saved[0], s.saved[1]
			}
			s.alternate = on
		}
	})
}

func (s *Screen) attributes(params ansi.Params) {
	var parts []string
	params.ForEach(0, func(_, p int, _ bool) { parts = append(parts, strconv.Itoa(p)) })
	if len(parts) == 0 || parts[0] == "0" {
		s.style = ""
		parts = parts[min(1, len(parts)):]
	}
	if len(parts) > 0 {
		s.style = strings.TrimPrefix(s.style+";"+strings.Join(parts, ";"), ";")
		s.Styles[strings.Join(parts, ";")]++
	}
}

func (s *Screen) eraseDisplay(how int) {
	g := s.grid()
	from, to := 0, s.height
	switch how {
	case 0:
		s.eraseLine(0)
		from = s.y + 1
	case 1:
		s.eraseLine(1)
		to = s.y
	}
	for y := from; y < to; y++ {
		g[y] = blank(s.width)
	}
}

func (s *Screen) eraseLine(how int) {
	line := s.grid()[s.y]
	from, to := 0, s.width
	switch how {
	case 0:
		from = s.x
	case 1:
		to = s.x + 1
	}
	copy(line[from:to], blank(s.width))
}

// Write executes the output of a program.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parser.Parse(p)
	return len(p), nil
}

func (s *Screen) control(b byte) {
	s.wrap = s.wrap && b == 7
	switch b {
	case '\a':
		s.Rang++
	case '\b':
		s.x = max(0, s.x-1)
	case '\t':
		s.x = min(s.width-1, s.x/8*8+8)
	case '\n':
		if s.feed(); s.Cooked {
			s.x = 0
		}
	case '\r':
		s.x = 0
	case 0x0e, 0x0f:
	default:
		panic(fmt.Sprintf("the screen does not know the control character %#x", b))
	}
}

func (s *Screen) escape(c ansi.Cmd) {
	switch final := c.Final(); final {
	case '7':
		s.saved = [2]int{s.x, s.y}
	case '8':
		s.x, s.y = s.saved[0], s.saved[1]
	case 'M':
		if s.y == s.top {
			s.scroll(s.top, -1)
		} else {
			s.y = max(0, s.y-1)
		}
	case '=', '>', '\\', 'B', '0':
	default:
		panic(fmt.Sprintf("the screen does not know ESC %c", final))
	}
}

// NewScreen returns an empty screen.
func NewScreen(width, height int) *Screen {
	s := &Screen{parser: ansi.NewParser(), Styles: map[string]int{}}
	s.parser.SetHandler(ansi.Handler{Print: s.print, Execute: s.control, HandleCsi: s.csi, HandleEsc: s.escape})
	s.Resize(width, height)
	return s
}
