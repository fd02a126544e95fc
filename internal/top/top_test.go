package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/terminal"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// person is a user in front of a terminal that shows a cluster. Time passes only while the person waits.
type person struct {
	t *testing.T
	*cluster
	screen  *terminal.Screen
	program *tea.Program
	keys    io.Writer
	ended   chan error
	frames  strings.Builder
}

// watch lets a person act on a screen of this size.
func watch(t *testing.T, width, height int, do func(p *person), env ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		p := &person{t: t, cluster: newCluster(), screen: terminal.NewScreen(width, height), keys: keys,
			ended: make(chan error, 1)}
		p.screen.Cooked = true // because it is not a terminal for the program
		ctx, cancel := context.WithCancel(t.Context())
		p.program = program(ctx, p.cluster, in, p.screen, append(env, "TERM=xterm-256color", "TTY_FORCE=1"),
			tea.WithWindowSize(width, height), tea.WithoutSignalHandler())
		go func() {
			_, err := p.program.Run()
			p.ended <- err
		}()
		p.wait(100 * time.Millisecond)
		do(p)
		cancel()
		in.Close()
		p.wait(time.Hour) // the remaining timers fire
	})
}

// wait lets time pass.
func (p *person) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// press presses keys one by one, with a pause after each.
func (p *person) press(keys ...string) {
	for _, k := range keys {
		io.WriteString(p.keys, k)
		p.wait(100 * time.Millisecond)
	}
}

const (
	up, down, enter, tab, esc = "\x1b[A", "\x1b[B", "\r", "\t", "\x1b"
	backspace                 = "\x7f"
)

// photo stores the screen under a name.
func (p *person) photo(name string) {
	fmt.Fprintf(&p.frames, "=== %s\n%s", name, p.screen.Text())
	for _, line := range p.screen.Marked() {
		fmt.Fprintf(&p.frames, "--- marked: %s\n", line)
	}
}

// compare compares the photos with a golden file.
func (p *person) compare(name string) {
	p.t.Helper()
	golden.Check(p.t, filepath.Join("testdata", name+".txt"), p.frames.String())
}

// sees checks that texts are on the screen.
func (p *person) sees(texts ...string) {
	p.t.Helper()
	for _, want := range texts {
		if !strings.Contains(p.screen.Text(), want) {
			p.t.Errorf("the screen does not say %q:\n%s", want, p.screen.Text())
		}
	}
}

// TestScreens records the screens on a tour through the program.
func TestScreens(t *testing.T) {
	watch(t, 120, 32, func(p *person) {
		p.photo("start")
		p.press(down, "s")
		p.photo("s: pools by their lag; the selection stays on its row")
		p.press("s", "s", "s", "s", tab)
		p.photo("Tab: the queue has the focus")
		p.press("/", "user:markov st:w")
		p.photo("/: only what waits of markov")
		p.press(enter, enter)
		p.photo("Enter: why")
		p.press(esc, esc, "n")
		p.photo("Esc, Esc, n: nodes")
		p.press(down, down, down, down, "w")
		p.photo("w: a node")
		p.press(backspace, tab, enter)
		p.photo("Enter: into a pool")
		p.press("?")
		p.photo("?: help")
		p.press(esc, backspace)
		p.photo("Backspace: out of the pool")
		p.compare("screens")
	})
}

// TestSizes checks that a screen of any size shows the contents that fit, and that no line is too wide.
func TestSizes(t *testing.T) {
	for _, s := range []struct{ width, height int }{{200, 40}, {160, 40}, {80, 24}, {60, 20}, {40, 12}, {24, 8}, {12, 3}} {
		t.Run(fmt.Sprintf("%dx%d", s.width, s.height), func(t *testing.T) {
			watch(t, s.width, s.height, func(p *person) {
				p.photo("start")
				p.press(tab)
				p.photo("queue")
				p.press("w")
				p.photo("why")
				p.compare(fmt.Sprintf("%dx%d", s.width, s.height))
				for line := range strings.Lines(p.frames.String()) {
					if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w > s.width && !strings.HasPrefix(line, "=== ") &&
						!strings.HasPrefix(line, "--- ") {
						t.Errorf("%d columns are needed by %q", w, line)
					}
				}
			})
		})
	}
}

// TestLive checks that an event updates the screen at once, that the screen is refreshed within two seconds
// without an event, and that the server gets no requests while the screen is paused.
func TestLive(t *testing.T) {
	watch(t, 120, 32, func(p *person) {
		p.wait(time.Second)
		p.change(func() { p.list[4].Reason.Text = "its license is free again" })
		p.wait(300 * time.Millisecond)
		p.sees("its license is free again")
		p.mu.Lock()
		p.list[4].Reason.Text = "nobody told of this"
		p.mu.Unlock()
		p.wait(2100 * time.Millisecond)
		p.sees("nobody told of this", "7.7 starts/s")
		p.press("p")
		before := p.asked
		p.change(func() { p.list[4].Reason.Text = "behind the curtain" })
		p.wait(time.Minute)
		p.sees("nobody told of this", "PAUSED since 00:00:03")
		if p.asked != before {
			t.Errorf("%d questions while the screen stands still", p.asked-before)
		}
		p.press("p")
		p.sees("behind the curtain")
	})
}

// TestGentle checks that a server that answers slowly gets fewer requests, however many events it sends.
func TestGentle(t *testing.T) {
	watch(t, 120, 32, func(p *person) {
		p.mu.Lock()
		p.slow, p.asked = 250*time.Millisecond, 0 // four answers: a second
		p.mu.Unlock()
		for range 1000 {
			p.change(func() {})
			p.wait(100 * time.Millisecond)
		}
		if p.asked > 12 {
			t.Errorf("asked %d times in 100 s for what takes a second: more than a tenth of the server's time", p.asked)
		}
		if p.asked < 8 {
			t.Errorf("asked only %d times in 100 s while much happened", p.asked)
		}
	})
}

// TestServerGoesAway checks that the last data stay on the screen, with their time and the problem.
func TestServerGoesAway(t *testing.T) {
	watch(t, 120, 32, func(p *person) {
		p.mu.Lock()
		p.away = errors.New("no server answers at /run/fairlead.sock: connection refused")
		p.mu.Unlock()
		p.wait(5 * time.Second)
		p.sees("as of 00:00:00: no server answers at /run/fairlead.sock", "physics")
		p.mu.Lock()
		p.away = nil
		p.mu.Unlock()
		p.wait(3 * time.Second)
		p.sees("Jain 0.94", "00:00:0")
	})
}

// TestPoolGoesAway checks that the screen returns to the parent if the shown pool or job disappears.
func TestPoolGoesAway(t *testing.T) {
	watch(t, 120, 32, func(p *person) {
		p.press("G", enter)
		p.sees("pools in biology/epi")
		p.change(func() { p.pools = p.pools[:6] })
		p.wait(3 * time.Second)
		p.sees("pools in biology", `pool "biology/epi": fairlead: not found`)
		p.press(tab, "w")
		p.sees("why 1031")
		p.change(func() { p.list = p.list[4:] })
		p.wait(3 * time.Second)
		p.sees("queue of biology")
	})
}

// TestBoost checks that the foot asks for a boost, and then shows the result with the undo command.
func TestBoost(t *testing.T) {
	watch(t, 140, 32, func(p *person) {
		p.press("G", up, up, "b")
		p.sees("boost biology (factor, time): x2 for 1h")
		p.press(backspace, backspace, "90m", enter)
		p.sees("boost 3: biology x2 for 1h30m; weight 2 -> 4, share 40.0% -> 57.1%; undo: fairlead boost --cancel 3")
		if len(p.boosts) != 1 || p.boosts[0].Pool != "biology" || p.boosts[0].ForSeconds != 5400 {
			t.Errorf("asked for %+v", p.boosts)
		}
		p.press("b", "\x15", "much", enter)
		p.sees("not a boost: expected a factor and a time, such as x2 for 1h")
		p.press("b", esc, tab, "b")
		p.sees("select the pool to boost")
	})
}

// TestHostileNames checks that hostile names have no effect on the terminal, and do not move the texts beside
// them.
func TestHostileNames(t *testing.T) {
	evil := "\x1b[2J\x1b]0;owned\x07\x9b31m\u202erm -rf\u2066\r\n\b\t\x00"
	watch(t, 120, 32, func(p *person) {
		p.change(func() {
			p.pools[1].Path, p.list[7].Name, p.list[7].User, p.list[4].Reason.Text = "physics"+evil, evil, "日本語の名前", evil
			p.nodes[0].Name, p.nodes[1].Why = evil, evil
		})
		p.wait(time.Second)
		p.photo("pools and queue")
		p.press("n")
		p.photo("nodes")
		p.press(tab, tab, "/", evil)
		p.photo("a filter")
		p.compare("hostile")
		if p.screen.Rang > 0 || strings.Contains(p.frames.String(), "\x1b") || !p.screen.Taken() {
			t.Errorf("the terminal obeyed: bells %d", p.screen.Rang)
		}
	})
}

// TestColours checks that the program uses colors if the terminal has them and the user wants them, and that
// a mark besides the style shows the selection.
func TestColours(t *testing.T) {
	for env, want := range map[string]bool{"TERM=xterm-256color": true, "NO_COLOR=1": false, "TERM=vt100": false} {
		watch(t, 120, 32, func(p *person) {
			coloured := false
			for style := range p.screen.Styles {
				for part := range strings.SplitSeq(style, ";") {
					coloured = coloured || len(part) == 2 && strings.ContainsAny(part[:1], "349") && part != "39" && part != "49"
				}
			}
			if coloured != want {
				t.Errorf("%s: colours %v, want %v: %v", env, coloured, want, p.screen.Styles)
			}
			p.sees(">physics")
		}, env)
	}
}

// TestResize checks that the screen follows the window.
func TestResize(t *testing.T) {
	watch(t, 120, 32, func(p *person) {
		for _, s := range [][2]int{{60, 14}, {200, 50}, {30, 6}, {10, 2}, {1, 1}, {120, 32}} {
			p.screen.Resize(s[0], s[1])
			p.program.Send(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
			p.wait(100 * time.Millisecond)
		}
		p.sees("Jain 0.94", "physics", "1042", "q quit")
	})
}

// TestEnds checks that q, Ctrl-C and the end of ctx restore the terminal.
func TestEnds(t *testing.T) {
	for _, key := range []string{"q", "\x03", "wq", "/\x03"} {
		watch(t, 80, 24, func(p *person) {
			io.WriteString(p.screen, "")
			for _, k := range strings.Split(key, "") {
				p.press(k)
			}
			select {
			case err := <-p.ended:
				if err != nil {
					t.Errorf("%q: %v", key, err)
				}
			default:
				t.Errorf("%q does not end it", key)
			}
			if p.screen.Taken() {
				t.Errorf("%q keeps the screen, or leaves the cursor hidden", key)
			}
		})
	}
}
