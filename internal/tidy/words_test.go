package tidy

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const glossary = "docs/reference/glossary.md"

// TestTextsUseTheGlossary counts the words that the glossary refuses in each page of docs/ and in the texts
// of each package: errors anywhere, and every text of the commands.
func TestTextsUseTheGlossary(t *testing.T) {
	refused := refusedWords(t)
	found := map[string]int{}
	which := map[string][]string{}
	note := func(place, text string) {
		words := refused.FindAllString(text, -1)
		found[place] += len(words)
		which[place] = append(which[place], words...)
	}
	for _, page := range pages(t) {
		if page != filepath.FromSlash(glossary) {
			note(filepath.ToSlash(page), prose(read(t, page)))
		}
	}
	for _, file := range goFiles(t, false) {
		place := cmp.Or(packageOf(file), "fairlead")
		for _, text := range texts(t, file) {
			note(place, text)
		}
	}
	instead := glossary + " has the word to use"
	for _, place := range (limit{"old-words", atMost(0), instead}).hold(t, found) {
		slices.Sort(which[place])
		t.Logf("%s: %s", place, strings.Join(which[place], ", "))
	}
}

// refusedWords matches the words in code letters in the last column of the glossary, in any case, singular
// and plural.
func refusedWords(t *testing.T) *regexp.Regexp {
	t.Helper()
	var words []string
	for line := range strings.Lines(read(t, glossary)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 6 {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(cells[4], -1) {
			words = append(words, strings.ReplaceAll(regexp.QuoteMeta(m[1]), " ", `\s+`))
		}
	}
	if len(words) < 10 {
		t.Fatalf("%s refuses %d words only", glossary, len(words))
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)s?\b`)
}

var (
	code  = regexp.MustCompile("`([^`]+)`")
	fence = regexp.MustCompile("(?ms)^```.*?^```$")
)

// prose returns a page without its code.
func prose(page string) string {
	return code.ReplaceAllString(fence.ReplaceAllString(page, ""), "")
}

// pages lists README.md and the pages of docs/, relative to the root.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "docs/*/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, rel)
		}
	}
	return found
}

// texts returns the literals of a file that users may read: all literals of more than one word in
// cmd/fairlead, and elsewhere the literals that make an error.
func texts(t *testing.T, file string) (found []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	literals := func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil && strings.Contains(text, " ") {
				found = append(found, text)
			}
		}
		return true
	}
	if strings.HasPrefix(packageOf(file), "cmd/") {
		ast.Inspect(f, literals)
		return found
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && makesError(call) && len(call.Args) > 0 {
			ast.Inspect(call.Args[0], literals)
		}
		return true
	})
	return found
}

func makesError(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && (pkg.Name == "errors" && s.Sel.Name == "New" || pkg.Name == "fmt" && s.Sel.Name == "Errorf")
}
