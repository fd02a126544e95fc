package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	daemons "github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/terminal"
)

// evil is text that somebody may append to a name: it clears the screen, sets the title, reverses text, and tries to
// begin new lines.
const evil = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202eFORGED\r\nFORGED\b\u2028FORGED\x7f\u200b\U000e0041"

// known lists the fields from which programs recognize a document.
var known = []string{"state", "verdict", "code", "policy", "result", "formula", "data", "plan", "by", "order", "first"}

// spoil appends evil to each string of a document that may be user input. The server's own error messages may
// have several lines, so they get evil without line ends.
func spoil(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			if slices.Contains(known, name) {
				out[name] = x
				continue
			}
			if key == "labels" || key == "capacity" {
				name += evil
			}
			out[name] = spoil(x, name)
		}
		return out
	case []any:
		for i := range v {
			v[i] = spoil(v[i], key)
		}
	case string:
		_, err := time.Parse(time.RFC3339Nano, v)
		switch {
		case err == nil || v == "":
		case key == "detail" || key == "message":
			return v + strings.NewReplacer("\r", "", "\n", "").Replace(evil)
		default:
			return v + evil
		}
	}
	return v
}

// spoiled starts a proxy that appends the evil text to the answers of another server, and returns its socket.
func spoiled(t *testing.T, socket string) string {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "fairlead" },
		Transport: &http.Transport{DisableCompression: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", socket)
		}},
		ModifyResponse: func(r *http.Response) error {
			if !strings.Contains(r.Header.Get("Content-Type"), "json") {
				return nil
			}
			var doc any
			read := json.NewDecoder(r.Body)
			read.UseNumber()
			if err := read.Decode(&doc); err != nil {
				return err
			}
			text, err := json.Marshal(spoil(doc, ""))
			r.Body = io.NopCloser(bytes.NewReader(text))
			r.Header.Set("Content-Length", strconv.Itoa(len(text)))
			return err
		},
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: proxy}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return path
}

// obeyed reports whether a terminal obeys a character, or shows other characters differently because of it.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029')
}

var (
	forged    = regexp.MustCompile(`(?m)^\W*FORGED`)
	continued = regexp.MustCompile(`\r?\n {20,}`)
)

// hostileCommands lists the commands that print user input; USER is the caller.
var hostileCommands = []string{
	"queue", "queue -l", "queue --all -l", "queue --start", "why 1", "why 2", "why 3", "why USER",
	"why 3 --vs 4", "why 4 --history", "why 3 --what-if cpus=1", "why 3 --verify", "why no/such/pool", "why node NODE",
	"shares", "shares USER", "shares --summary", "nodes", "nodes --tasks", "nodes --tasks --past 1h",
	"history", "history -j 1", "history --stops", "limits", "prio", "reserve", "boost --list",
	"report fairness", "report fairness --csv", "report waits --by user", "report usage --by user,pool", "report usage --format csv --by user",
	"doctor", "config history", "config history --versions", "config show",
	"logs 99", "cancel 99", "alter 3 --nice 5", "submit -J name -- true", "submit --dry-run -- true",
	"hold 4", "release 4", "hold -u USER", "drain nothing", "resume nothing", "boost /USER x2 --for 1h", "usage reset /USER",
	"config set policy fair", "explain share.behind", "logs 1", "logs --all 1", "logs --tail 1 1",
}

// filed matches the commands that print a file or output unchanged, so that it can be written to another file.
var filed = regexp.MustCompile(`^(config show|logs (--\S+ )*(1 )?1)$`)

// TestHostileWords checks that names, notes and reasons of users, and messages of a server, cannot control a
// terminal in any command, nor add lines. JSON contains all of them.
func TestHostileWords(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs all commands, one after another")
	}
	t.Parallel()
	s := newSession(t, "hostile")
	s.output(prompt{text: "fairlead serve --dev --cpus 2", want: []string{"..."}})
	s.run(`fairlead submit -J first --wait -- sh -c 'printf "a\033[2J\033]0;t\007\rb\n"; exit 3'`)
	for range 3 {
		s.run("fairlead submit -J more -c 2 -t 1h -- sh -c 'sleep 600' \"$(printf 'x\\nFORGED')\"")
	}
	s.run("fairlead boost /" + s.user + " x2 --for 1h --reason much; fairlead reserve night --nodes " + s.host + " --start +2h --duration 1h -u " + s.user)
	address := spoiled(t, s.socket)
	for _, line := range hostileCommands {
		line = strings.NewReplacer("USER", s.user, "NODE", s.host).Replace(line)
		t.Run(line, func(t *testing.T) {
			seen := s.onTerminal(t, address, line)
			// A finding, or a reason, may continue on the next line, far from the names of checks and the numbers of
			// jobs.
			if line == "doctor" || strings.HasPrefix(line, "queue") {
				seen = continued.ReplaceAllString(seen, " ")
			}
			if strings.Contains(seen, "unknown") || strings.Contains(seen, "panic:") {
				t.Errorf("this is no command:\n%s", seen)
			}
			if filed.MatchString(line) { // the lines are user output, and a progress bar goes back
				seen = strings.NewReplacer("FORGED", "", "\r", "").Replace(seen)
			} else {
				harmless(t, s.piped(address, line))
			}
			harmless(t, seen)
		})
	}
	const printed = "a\x1b[2J\x1b]0;t\x07" // printed by the first job
	for line, out := range map[string]string{"logs 1 | cat": s.piped(address, "logs 1"), "logs --raw 1": s.onTerminal(t, address, "logs --raw 1"), "logs --raw --all 1": s.onTerminal(t, address, "logs --raw --all 1")} {
		if !strings.Contains(out, printed) {
			t.Errorf("%s prints %q, want the bytes of the job", line, out)
		}
	}
	for _, line := range []string{"queue --all", "why 3", "shares", "nodes", "history", "doctor", "report fairness", "config history"} {
		out := s.piped(address, line+" --json")
		var doc any
		if err := json.Unmarshal([]byte(out), &doc); err != nil || strings.IndexFunc(out, obeyed) >= 0 {
			t.Errorf("%s --json: %v, or it holds what a terminal obeys", line, err)
		}
		if !strings.Contains(fmt.Sprint(doc), evil) {
			t.Errorf("%s --json does not hold all that the server said", line)
		}
	}
}

// harmless fails for characters that a terminal would obey, and for forged lines.
func harmless(t *testing.T, out string) {
	t.Helper()
	if i := strings.IndexFunc(out, obeyed); i >= 0 {
		t.Errorf("it prints %q in %q", []rune(out[i:])[0], out[max(0, i-60):min(len(out), i+60)])
	}
	if line := forged.FindString(out); line != "" {
		t.Errorf("somebody's word is a line of its own: %q in\n%s", line, out)
	}
}

func (s *session) piped(address, line string) string {
	x := exec.Command("sh", "-c", "fairlead "+line)
	x.Dir, x.Env = s.dir, append(s.env(), "FAIRLEAD_SERVER="+address)
	out, _ := x.CombinedOutput()
	return string(out)
}

// onTerminal returns the output of a command on a terminal, without colors and without additions of the
// kernel.
func (s *session) onTerminal(t *testing.T, address, line string) string {
	person, program, err := terminal.Open(100, 30)
	if err != nil {
		daemons.Skip(t, err)
	}
	defer person.Close()
	x := exec.Command("sh", "-c", "fairlead "+line)
	x.Dir, x.Env = s.dir, append(s.env(), "FAIRLEAD_SERVER="+address, "TERM=xterm-256color")
	x.Stdout, x.Stderr = program, program
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	out, _ := io.ReadAll(person) // read until the other end is closed
	x.Wait()
	return strings.ReplaceAll(colours.ReplaceAllString(string(out), ""), "\r\n", "\n")
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)
