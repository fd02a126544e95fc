package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// TestReference compares generated parts of the documentation with the code, and writes them with -update. Each part is
// between two comments, in a page that is otherwise written by hand.
func TestReference(t *testing.T) {
	t.Setenv("FAIRLEAD_SERVER", "")
	t.Setenv("FAIRLEAD_POOL", "")
	region(t, "docs/reference/cli.md", "commands", commandsText())
	region(t, "docs/reference/config.md", "fields", config.Reference())
	region(t, "docs/reference/bridge.md", "fields", config.BridgeReference())
	region(t, "docs/reference/bridge.md", "options", bridgeOptionsText())
	whole(t, "docs/reference/config.schema.json", string(config.Schema())+"\n")
	region(t, "docs/reference/codes.md", "codes", codesText())
	region(t, "docs/reference/exit-status.md", "errors", errorsText(t))
	doc := openAPI(t)
	whole(t, "docs/reference/openapi.json", doc)
	region(t, "docs/reference/api.md", "routes", routesText(t, doc))
	region(t, "docs/reference/metrics.md", "metrics", metricsText(t))
}

// region compares a named part of a page, or writes it with -update.
func region(t *testing.T, page, name, want string) {
	t.Helper()
	text := readPage(t, page)
	begin, end := "<!-- generated: "+name+" -->\n", "<!-- end of "+name+" -->\n"
	head, rest, ok := strings.Cut(text, begin)
	got, tail, closed := strings.Cut(rest, end)
	want = "\n" + strings.Trim(want, "\n") + "\n\n"
	switch {
	case !ok || !closed:
		t.Errorf("%s has no part between %q and %q", page, begin, end)
	case got == want:
	case *update:
		writePage(t, page, head+begin+want+end+tail)
	default:
		t.Errorf("%s: the part %s is out of date; make docs writes it\n%s", page, name, firstDifference(got, want))
	}
}

// whole does the same as region for a generated file.
func whole(t *testing.T, page, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(rootDir, page))
	switch {
	case err == nil && string(got) == want:
	case *update:
		writePage(t, page, want)
	default:
		t.Errorf("%s is out of date; make docs writes it (%v)\n%s", page, err, firstDifference(string(got), want))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			return fmt.Sprintf("line %d of it should be: %s", i+1, w[i])
		}
	}
	return "there is too much at its end"
}

// mdRow returns a row of a table in Markdown.
func mdRow(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "|", `\|`), "\n", " ")
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func codesText() string {
	var b strings.Builder
	b.WriteString(mdRow("code", "meaning", "next step") + "|---|---|---|\n")
	for _, e := range why.Codes() {
		b.WriteString(mdRow(code(string(e.Code)), e.Meaning, commandsIn(e.Next)))
	}
	return b.String()
}

var quoted = regexp.MustCompile(`fairlead [a-z]+( -{0,2}[A-Za-z-]+)*( JOB| POOL)?`)

// commandsIn marks the commands in a sentence as code.
func commandsIn(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(c string) string {
		if i := strings.Index(c, " start "); i >= 0 {
			return "`" + c[:i] + "`" + c[i:]
		}
		return "`" + c + "`"
	})
}

// sentinels holds all errors that package queue promises.
var sentinels = map[string]error{
	"ErrNotFound": queue.ErrNotFound, "ErrStaleAttempt": queue.ErrStaleAttempt, "ErrInvalid": queue.ErrInvalid,
	"ErrState": queue.ErrState, "ErrFull": queue.ErrFull, "ErrBehind": queue.ErrBehind, "ErrClosed": queue.ErrClosed,
	"ErrForbidden": queue.ErrForbidden, "ErrLimit": queue.ErrLimit, "ErrBusy": queue.ErrBusy, "ErrKeyUsed": queue.ErrKeyUsed, "ErrTaken": queue.ErrTaken, "ErrUnavailable": queue.ErrUnavailable,
}

// errorsText returns the table of errors, codes and statuses. It reads the errors from their source, so that none is
// missing.
func errorsText(t *testing.T) string {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(rootDir, "queue", "errors.go"), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(mdRow("error in Go", "code", "HTTP", "exit", "meaning") + "|---|---|---|---|---|\n")
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			name := v.Names[0].Name
			err, known := sentinels[name]
			if !known {
				t.Errorf("errors.go: %s is not in the table of sentinels of this test", name)
				continue
			}
			b.WriteString(mdRow("`queue."+name+"`", code(api.FromError(err).Code), fmt.Sprint(api.Status(err)), fmt.Sprint(api.Exit(err)), meaningOf(name, v.Doc.Text())))
		}
	}
	return b.String()
}

// meaningOf makes a sentence from an error's comment: "ErrX says that ...".
func meaningOf(name, doc string) string {
	text := strings.TrimPrefix(strings.Join(strings.Fields(doc), " "), name+" says that ")
	text = regexp.MustCompile(`\[([A-Za-z.]+)\]`).ReplaceAllString(text, "`$1`")
	return strings.ToUpper(text[:1]) + text[1:]
}
