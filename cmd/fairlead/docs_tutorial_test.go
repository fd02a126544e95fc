package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead/internal/await"
	daemons "github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/pgtest"
)

// lesson follows the tutorial for Go programs: it writes the files in order, and runs the commands in an initially
// empty folder.
type lesson struct {
	t        *testing.T
	dir      string
	env      []string
	services map[string]*background // by their address on the page
	ports    map[string]string      // free ports, by the ports of the page
	database string
}

// TestDocsGoTutorial builds and runs the program that the reader of docs/fair-background-jobs.md writes.
func TestDocsGoTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program of each chapter")
	}
	t.Parallel()
	const page = "docs/fair-background-jobs.md"
	if _, err := exec.LookPath("curl"); err != nil {
		daemons.Skip(t, "there is no curl here: apt-get install curl")
	}
	l := &lesson{t: t, dir: t.TempDir(), services: map[string]*background{}, ports: map[string]string{}, database: pgtest.Own(t)}
	// The modules were all downloaded for the module of this repository, and its go.sum verifies them.
	l.env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath "+os.Getenv("GOFLAGS"), "GOSUMDB=off", "GOWORK=off")
	t.Cleanup(l.stop)
	blocks, _ := blocksOf(readPage(t, page))
	for _, b := range blocks {
		if name, ok := strings.CutPrefix(b.note, "file: "); ok {
			l.write(name, b.text)
			continue
		}
		for _, c := range promptsOf(b) {
			if got := l.follow(c); !sameForm(c.want, got) {
				t.Fatalf("%s:%d: $ %s\nprints:\n%s\nthe page says:\n%s", page, c.line, c.text, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		}
	}
}

func (l *lesson) write(name, text string) {
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// stop ends the services like Ctrl-C.
func (l *lesson) stop() {
	for address, s := range l.services {
		s.stop()
		delete(l.services, address)
	}
}

var (
	pagePort = regexp.MustCompile(`localhost:\d+`)
	listens  = regexp.MustCompile(`-listen (\S+)`)
)

// follow runs one prompt and returns its output.
func (l *lesson) follow(c prompt) []string {
	text := pagePort.ReplaceAllStringFunc(c.text, l.port)
	switch {
	case strings.HasPrefix(text, "export DATABASE_URL="):
		l.env = append(l.env, "DATABASE_URL="+l.database)
		return nil
	case text == "go mod tidy":
		l.require()
	case strings.HasPrefix(text, "go run ."):
		return l.begin(strings.TrimPrefix(text, "go run ."), c.want)
	case strings.HasPrefix(text, "curl "):
		text = "curl -s " + strings.TrimPrefix(text, "curl ")
	}
	var got []string
	await.Within(lookLong(l.t), func() bool {
		x := exec.Command("sh", "-c", text)
		x.Dir, x.Env = l.dir, l.env
		out, _ := x.CombinedOutput()
		got = l.lines(string(out))
		return !strings.Contains(text, "/admin/") || sameForm(c.want, got)
	})
	return got
}

// port returns a free port for a port of the page.
func (l *lesson) port(page string) string {
	if l.ports[page] == "" {
		x, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			l.t.Fatal(err)
		}
		defer x.Close()
		l.ports[page] = fmt.Sprint("localhost:", x.Addr().(*net.TCPAddr).Port)
	}
	return l.ports[page]
}

// require makes the folder use the source under test.
func (l *lesson) require() {
	root, err := filepath.Abs(rootDir)
	if err != nil {
		l.t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		l.t.Fatal(err)
	}
	l.write("go.sum", string(sums))
	x := exec.Command("go", "mod", "edit", "-require=github.com/fairlead/fairlead@v0.0.0", "-replace=github.com/fairlead/fairlead="+root)
	x.Dir, x.Env = l.dir, l.env
	if out, err := x.CombinedOutput(); err != nil {
		l.t.Fatalf("%v\n%s", err, out)
	}
}

// begin starts the service of the folder, replaces the service at the same address, and returns its output.
func (l *lesson) begin(flags string, want []string) []string {
	address := "localhost:8080"
	if m := listens.FindStringSubmatch(flags); m != nil {
		address = m[1]
	} else {
		flags += " -listen " + l.port(address)
	}
	if !strings.Contains(l.read("main.go"), `"listen"`) {
		flags = ""
	}
	if old := l.services[address]; old != nil {
		old.cmd.Process.Signal(syscall.SIGINT)
		<-old.ended
	}
	build := exec.Command("go", "build", "-o", "thumbs", ".")
	build.Dir, build.Env = l.dir, l.env
	if out, err := build.CombinedOutput(); err != nil {
		l.t.Fatalf("%v\n%s", err, out)
	}
	x := exec.Command("sh", "-c", "exec ./thumbs "+flags)
	x.Dir, x.Env = l.dir, l.env
	b := inBackground(l.t, x, false)
	l.services[address] = b
	var got []string
	await.Within(lookLong(l.t), func() bool {
		got = l.lines(b.String())
		return sameForm(want, got)
	})
	return got
}

func (l *lesson) read(name string) string {
	text, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

// lines returns the lines of output, with the ports of the page.
func (l *lesson) lines(out string) []string {
	for page, here := range l.ports {
		out = strings.ReplaceAll(out, here, page)
	}
	out = strings.TrimRight(out, "\n")
	if out == "" || strings.HasPrefix(out, "go: ") && !strings.Contains(out, "creating") {
		return nil // messages of the go command about modules
	}
	return strings.Split(out, "\n")
}

var (
	anyNumber = regexp.MustCompile(`\d+(\.\d+)?(ms|s|m)?\b`)
	customers = regexp.MustCompile(`\b(acme|bolt)\b`)
)

// sameForm compares output without its numbers, and without the order of customers, which depends on who submitted
// first. Each customer must have the same number of lines.
func sameForm(want, got []string) bool {
	form := func(lines []string, mix bool) (out []string) {
		for _, line := range lines {
			line = anyNumber.ReplaceAllString(line, "0")
			if mix {
				line = customers.ReplaceAllString(line, "X")
			}
			out = append(out, line)
		}
		return out
	}
	count := func(lines []string, customer string) int { return strings.Count(strings.Join(lines, "\n"), customer) }
	turns := len(want) > 0 && strings.HasSuffix(want[0], "for acme")
	return matches(form(want, turns), form(got, turns)) &&
		(!turns || count(want, "acme") == count(got, "acme") && count(want, "bolt") == count(got, "bolt"))
}
