package notices

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// licence matches the name of a file with a license, or with a text that belongs to one.
var licence = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|copyright|notice|patents)([-._].*)?$`)

// module is a module with packages in the program.
type module struct{ name, dir string }

// TestNotices checks that the text contains all licenses of each module of the program, and of Go itself,
// word for word.
func TestNotices(t *testing.T) {
	owners := map[string][]string{} // by license text
	var modules []string
	add := func(m module, dir string) {
		for dir := dir; strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.IsDir() || !licence.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
					continue
				}
				text, err := os.ReadFile(filepath.Join(dir, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				rel, _ := filepath.Rel(m.dir, filepath.Join(dir, e.Name()))
				clean := tidy(string(text))
				if owner := m.name + ": " + rel; !slices.Contains(owners[clean], owner) {
					owners[clean] = append(owners[clean], owner)
				}
			}
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(list(t)), "\n") {
		f := strings.Split(line, "\t")
		m := module{f[0], f[1]}
		if !slices.Contains(modules, m.name) {
			modules = append(modules, m.name)
		}
		add(m, f[2])
	}
	root := strings.TrimSpace(run(t, "env", "GOROOT"))
	modules = append(modules, "Go")
	add(module{"Go", root}, root)
	for _, m := range modules {
		if !slices.ContainsFunc(slices.Concat(values(owners)...), func(o string) bool { return strings.HasPrefix(o, m+": ") }) {
			t.Errorf("%s has no licence", m)
		}
	}
	golden.Check(t, "notices.txt", written(owners))
}

// written returns the whole text; a license of several owners occurs once.
func written(owners map[string][]string) string {
	type part struct{ names, text string }
	var parts []part
	for text, names := range owners {
		slices.Sort(names)
		parts = append(parts, part{strings.Join(names, "\n"), text})
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.names, b.names) })
	var b strings.Builder
	b.WriteString("fairlead has the licence in the file LICENSE of its sources. Parts of the program are the work\nof others, under these licences.\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s", strings.Repeat("=", 80), p.names, p.text)
	}
	return b.String()
}

// tidy removes invisible characters from a text.
func tidy(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n\f") + "\n") {
		b.WriteString(strings.TrimRight(line, " \t\f\n") + "\n")
	}
	return b.String()
}

// list returns the packages of the program that are not ours, with their modules.
func list(t *testing.T) string {
	return run(t, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "github.com/fairlead/fairlead/cmd/fairlead")
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	x := exec.Command("go", args...)
	x.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	x.Stderr = os.Stderr
	out, err := x.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func values(m map[string][]string) (out [][]string) {
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
