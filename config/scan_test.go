package config

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// dump writes a node with the places of its scalars, to compare two.
func (n *node) dump() string {
	var parts []string
	switch n.kind {
	case nothing:
		return "null"
	case scalar:
		return fmt.Sprintf("%q@%d:%d", n.text, n.line, n.col)
	case list:
		for _, item := range n.items {
			parts = append(parts, item.dump())
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	for i, k := range n.keys {
		parts = append(parts, k.dump()+": "+n.items[i].dump())
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// dumpAST does the same with what a full reader of YAML made of the text.
func dumpAST(n ast.Node) string {
	var parts []string
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return "null"
	case *ast.SequenceNode:
		for _, item := range n.Values {
			parts = append(parts, dumpAST(item))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case *ast.MappingNode:
		for _, v := range n.Values {
			t := v.Key.GetToken()
			parts = append(parts, fmt.Sprintf("%q@%d:%d: ", t.Value, t.Position.Line, t.Position.Column)+dumpAST(v.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	t := n.GetToken()
	return fmt.Sprintf("%q@%d:%d", t.Value, t.Position.Line, t.Position.Column)
}

// sameAsYAML fails if the scanner takes a text that is no YAML, or reads it otherwise;
// what matches without is not compared.
func sameAsYAML(t *testing.T, text string, without *regexp.Regexp) {
	t.Helper()
	clean, problem := prepare([]byte(text))
	if problem != nil {
		return
	}
	ours, problem := scan(clean)
	if problem != nil {
		return
	}
	file, err := parser.ParseBytes([]byte(clean), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		t.Fatalf("%q\nwas read as %s, but is no YAML: %v", text, ours.dump(), err)
	}
	theirs := "null"
	for _, d := range file.Docs {
		if d.Body != nil {
			theirs = dumpAST(d.Body)
		}
	}
	got := ours.dump()
	if without.ReplaceAllString(got, "") != without.ReplaceAllString(theirs, "") {
		t.Fatalf("%q\nwas read as %s\nand is        %s", text, got, theirs)
	}
}

func TestScanReadsYAML(t *testing.T) {
	pages, _ := filepath.Glob("testdata/reports/*.txt")
	texts := []string{
		"a: 1\nb:\n  c: x y  # note\n  d: 'it''s'\ne:\n- f\n- g: 1\n  h: 2\n-\n  i: \"\\u00e9\\x41\\n\"\nj:\n", "[a, {b: c}, [d], ]", "{\"a\":1,\"b\":[1,2.5,null,true]}",
		"- - a\n  - b\n- c: d\n  e:\n  - f\n", "a: http://x/y#z\nb: -1\nc: a:b\nd: ?x\ne: -x\n", "{\n\"a\"\n:\n1\n}", "a : b", "\"a\" : b", "x", "", "# none\n",
		"a: [b,\n  c # note\n  , d]\ne: {}\n", "null: a\ntrue: b\n1: c\n~: d\n", "a: Null\nb: NULL\nc: nUll\n", "世: \"😀\" # 界\né: {ü: 1}\n",
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for c := range strings.SplitSeq(string(text), "\n== ") {
			_, body, _ := strings.Cut(c, "\n")
			input, _, _ := strings.Cut(body, "\n--\n")
			texts = append(texts, input)
		}
	}
	for _, text := range texts {
		sameAsYAML(t, text, regexp.MustCompile(`$^`))
	}
}

// misread is what the other reader is known to get wrong: tabs in texts without
// quotes, which it drops; ... and << at the beginning of longer texts; an empty entry
// that is as far left as its name, which takes the names that follow; and several
// colons in braces.
var misread = regexp.MustCompile(`\t|\.\.\.|<<|- *(#.*)?\n|:\S*:`)

// FuzzScan compares without places, which the other reader shifts after blanks.
func FuzzScan(f *testing.F) {
	f.Add("a: 1\nb: [c, {d: 'e'}]\n- f")
	places := regexp.MustCompile(`@[0-9]+:[0-9]+`)
	f.Fuzz(func(t *testing.T, text string) {
		if !misread.MatchString(text) {
			sameAsYAML(t, text, places)
		}
	})
}

// TestScanReadsJSON writes random values as JSON, in three ways, and reads them.
func TestScanReadsJSON(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		want := randomJSON(rng, 5)
		wide, _ := json.MarshalIndent(want, "", "\t")
		near, _ := json.MarshalIndent(want, " ", "  ")
		tight, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{wide, near, tight} {
			n, problem := scan(string(text))
			if problem != nil {
				t.Fatalf("seed %d: %v in\n%s", seed, problem, text)
			}
			if got, err := json.Marshal(n.value()); err != nil || string(got) != string(tight) {
				t.Fatalf("seed %d: %s\nwas read as %s", seed, text, got)
			}
		}
	}
}

func randomJSON(rng *rand.Rand, depth int) any {
	texts := []string{"", "a", "null", "true", "1.5", "it's", "a: b # c", "\"\\/\b\n\t\u2028<>&", "😀é", "- x", "{}", "*a", "<<"}
	switch n := rng.IntN(8); {
	case depth > 0 && n < 2:
		list := make([]any, rng.IntN(4))
		for i := range list {
			list[i] = randomJSON(rng, depth-1)
		}
		return list
	case depth > 0 && n < 5:
		object := map[string]any{}
		for range rng.IntN(4) {
			object[texts[rng.IntN(len(texts))]] = randomJSON(rng, depth-1)
		}
		return object
	}
	return []any{nil, true, false, 0, -12, 0.5, texts[rng.IntN(len(texts))], texts[rng.IntN(len(texts))]}[rng.IntN(8)]
}
