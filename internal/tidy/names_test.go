package tidy

import (
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNamesUseTheGlossary counts the types, functions, methods, fields and package variables, except in
// tests, whose names contain a word that the glossary refuses in names. It counts by word and not by package,
// so that code may move.
func TestNamesUseTheGlossary(t *testing.T) {
	refused := refusedInNames(t)
	found := map[string]int{}
	where := map[string][]string{}
	for _, word := range refused {
		found[word] = 0
	}
	eachPackage(t, func(p checked) {
		for id, object := range p.info.Defs {
			if isLocal(object) {
				continue
			}
			for _, word := range wordsOf(id.Name) {
				if slices.Contains(refused, word) {
					found[word]++
					where[word] = append(where[word], p.title()+"."+id.Name)
				}
			}
		}
	})
	instead := glossary + " has the word to use"
	for _, word := range (limit{"old-names", atMost(0), instead}).hold(t, found) {
		slices.Sort(where[word])
		t.Logf("%s: %s", word, strings.Join(where[word], ", "))
	}
}

// isLocal distinguishes names inside functions from names of packages, fields and methods.
func isLocal(object types.Object) bool {
	switch o := object.(type) {
	case nil: // the name of the package
		return true
	case *types.Func:
		return false
	case *types.Var:
		if o.IsField() {
			return false
		}
	}
	return object.Parent() != object.Pkg().Scope()
}

// refusedInNames reads the table of two columns at the end of the glossary.
func refusedInNames(t *testing.T) (words []string) {
	t.Helper()
	_, table, found := strings.Cut(read(t, glossary), "\n## Names in the code\n")
	if !found {
		t.Fatalf("%s has no section of names in the code", glossary)
	}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
				words = append(words, m[1])
			}
		}
	}
	if len(words) < 10 {
		t.Fatalf("%s refuses %d words in names only", glossary, len(words))
	}
	return words
}

var wordOfName = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// wordsOf returns the words of a name, each once, in lower case and in the singular.
func wordsOf(name string) (words []string) {
	for _, word := range wordOfName.FindAllString(name, -1) {
		word = strings.ToLower(word)
		if one, plural := strings.CutSuffix(word, "s"); plural && word != "mains" {
			word = one
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}
