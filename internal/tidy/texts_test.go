package tidy

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// unclear matches texts for users whose sentences hide their subject.
var unclear = regexp.MustCompile(`(?i)\b(what (is|was|are|were|may|has|waits|runs|can|must)|` +
	`of which|by whom|those that|so (many|much|long) )`)

// TestTextsArePlain counts the lines that match unclear, in the string literals of each package, in each page and in
// each template. Headings and questions may begin with "what". Records of decisions keep the words of their time, and
// the glossary quotes the words that it replaces.
func TestTextsArePlain(t *testing.T) {
	lines := map[string]int{}
	note := func(place, text string) {
		for line := range strings.Lines(text) {
			if unclear.MatchString(line) && !strings.HasPrefix(line, "#") && !strings.Contains(line, "?") {
				lines[place]++
				t.Logf("%s: %.160s", place, strings.TrimSpace(line))
			}
		}
	}
	for _, file := range goFiles(t, false) {
		for _, text := range literals(t, file) {
			note(cmp.Or(packageOf(file), "fairlead"), text)
		}
	}
	for _, page := range append(pages(t), "CONTRIBUTING.md", "CHANGELOG.md") {
		if page = filepath.ToSlash(page); page != glossary && !strings.HasPrefix(page, "docs/design/") {
			note(page, withoutQuotes(prose(read(t, page))))
		}
	}
	templates, err := filepath.Glob(filepath.Join(root, "internal/web/templates/*.html"))
	if err != nil || len(templates) == 0 {
		t.Fatal(templates, err)
	}
	for _, path := range templates {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		note(filepath.ToSlash(rel), read(t, rel))
	}
	limit{"unclear", atMost(0), "name the subject, such as the waiting jobs in place of what waits"}.hold(t, lines)
}

// quoted matches words that a text quotes, as CONTRIBUTING.md quotes the words that it warns of.
var quoted = regexp.MustCompile(`"[^"\n]*"`)

func withoutQuotes(text string) string { return quoted.ReplaceAllString(text, "") }

// literals returns the string literals of a file.
func literals(t *testing.T, file string) (found []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}
