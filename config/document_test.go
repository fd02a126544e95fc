package config

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// dump writes a node with the positions of its texts.
func (n *node) dump() string {
	var parts []string
	switch n.kind {
	case nothing:
		return "null"
	case scalar:
		text := n.text
		if n.quoted {
			text = fmt.Sprintf("%q", text)
		}
		return fmt.Sprintf("%s@%d:%d", text, n.line, n.col)
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

func TestReadYAML(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "null"},
		{"# none\n", "null"},
		{"---\n...\n", "null"},
		{"x", "x@1:1"},
		{"a: 1\nb:\n  c: x y # note\n  d: 'it''s'\n", `{a@1:1: 1@1:4 b@2:1: {c@3:3: x y@3:6 d@4:3: "it's"@4:6}}`},
		{"a:\n- b\n- c: 1\n  d: 2\n-\n  - e\n", "{a@1:1: [b@2:3 {c@3:3: 1@3:6 d@4:3: 2@4:6} [e@6:5]]}"},
		{`{"a":1,"b":[2.5,null,"null",true, ], "c": {}}`,
			`{"a"@1:2: 1@1:6 "b"@1:8: [2.5@1:13 null "null"@1:22 true@1:29] "c"@1:38: {}}`},
		{"{\n\t\"a\": [\n\t\t1\n\t]\n}", `{"a"@2:2: [1@3:3]}`},
		{"a: ~\nb: Null\nc: NULL\nd:\ne: nUll\nf: 'null'",
			`{a@1:1: null b@2:1: null c@3:1: null d@4:1: null e@5:1: nUll@5:4 f@6:1: "null"@6:4}`},
		{"null: a\n~: b\n1: c\ntrue: d", "{null@1:1: a@1:7 ~@2:1: b@2:4 1@3:1: c@3:4 true@4:1: d@4:7}"},
		{"世: \"😀\" # 界\né: {ü: 0660}\n", `{世@1:1: "😀"@1:4 é@2:1: {ü@2:5: 0660@2:8}}`},
		{"a: |\n  b: c\n  d\ne: >-\n  f\n  g\n", `{a@1:1: "b: c\nd\n"@1:4 e@4:1: "f g"@4:4}`},
		{"a: b\n  c\nd: \"e\n  f\"", `{a@1:1: b c@1:4 d@3:1: "e f"@3:4}`},
		{"a: &x 1\nb: *x", "{a@1:1: 1@1:4 b@2:1: 1@2:4}"},
		{"a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n",
			"{a@1:1: {b@1:8: [1@1:12]} c@2:1: {b@1:8: [1@1:12]} d@3:1: [{b@1:8: [1@1:12]} {b@1:8: [1@1:12]}]}"},
		{"a: &x\nb: *x\n&y c: d\n*y : e", "{a@1:1: null b@2:1: null c@3:1: d@3:7 c@4:1: e@4:6}"},
		{"a: 1\na: 2\n\"<<\": 3", `{a@1:1: 1@1:4 a@2:1: 2@2:4 "<<"@3:1: 3@3:7}`},
		{"? a\n: b\n? c", "{a@1:3: b@2:3 c@3:3: null}"},
	} {
		n, problem := readYAML(c.text)
		if problem != nil {
			t.Errorf("%q: %v", c.text, problem)
		} else if got := n.dump(); got != c.want {
			t.Errorf("%q: got  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestRefused has the errors that testdata/reports/syntax.txt does not show with a picture.
func TestRefused(t *testing.T) {
	const indent, quoted = "this line does not fit the lines above; check its indentation", " has to be in quotes"
	for _, c := range []struct{ text, want string }{
		{"a: !foo b", "1:4: " + noTags}, {"a: ! b", "1:4: " + noTags}, {"- !a {}", "1:3: " + noTags}, {"a: !a!b c",
			"1:4: " + noTags},
		{"a: !<b c", "1:4: " + noTags}, {"a: !%zz b", "1:4: " + noTags}, {"a: !b,c d", "1:4: " + noTags},
		{"\ta: b", "1:1: " + noTab}, {"a:\n  b: 1\n\tc: 2", "3:1: " + noTab}, {"a: |\n\tb",
			"2:1: " + noTab}, {"a:\n- b\n\t- c", "3:1: " + noTab},
		{"a: @b", "1:4: a value that begins with @" + quoted}, {"a: `b", "1:4: a value that begins with `" + quoted},
		{"a: %b", "1:4: a value that begins with %" + quoted}, {"a: ? b", "1:4: a value that begins with ?" + quoted},
		{"a: *", "1:4: a value that begins with *" + quoted}, {"a: &", "1:4: a value that begins with &" + quoted},
		{"a: | b", "1:4: a value that begins with |" + quoted}, {"a: >=3", "1:4: a value that begins with >" + quoted},
		{"a: *.mem", "1:4: there is no anchor (&) of that name above; a value that begins with *" + quoted},
		{"a:\n  b:3\n  c: 4", "2:3: a space is missing after the colon: expected name: value"},
		{"a:\n  b\n\n  # note\n  c: 4", `2:3: expected a colon and a value after "b"`}, {"a:\n- b\n c: d", "3:2: " + indent}, {"a\n", ""},
		{"a: b #c\n d", "2:2: " + indent}, {"a:\n  - b\n - c", "3:2: an entry of a list where a name is expected"}, {"{}\n{}",
			"2:1: " + indent},
		{"a: \"b\n---\nc\"", "1:4: the text in quotes does not end"}, {"a: \"\\",
			"1:5: there is no escape \\; write \\\\ for a backslash"},
		{"a: \"\\x4\"", "1:7: the escapes \\x, \\u and \\U need 2, 4 and 8 hexadecimal digits that name a character"},
		{"a: [b, ", "1:8: the file ends, but a bracket is not closed"}, {"a: [b\n# no\n",
			"1:4: the bracket is not closed: ] is missing"},
		{"a: {b: [c}", "1:10: expected a comma or ]; a value that holds brackets or colons" + quoted},
		{"{a: b}}", "1:7: unexpected }; a value that holds brackets" + quoted}, {"a: ,b", "1:4: unexpected comma"},
		{"a: {{ b }}", "1:5: a name must be text, got names with values; a value that begins with a bracket" + quoted},
		{"[a]: b", "1:1: a name must be text, got a list; a value that begins with a bracket" + quoted},
		{"{a, b}", "1:3: expected a colon after \"a\"; a value that holds braces" + quoted}, {"{: a}",
			"1:2: a name is missing before the colon"},
		{"a: b\n<<: {c: d}", "2:1: merge keys (<<) are not supported"}, {"a: b\n%c",
			"2:1: a line must not begin with %: directives are not supported"},
		{"--- a\n--- b\n", "2:1: a second document begins here; the file must have only one"}, {"a: b\n... c",
			"2:5: unexpected text after the value; put the whole value" + " in quotes"},
	} {
		_, problem := readYAML(c.text)
		got := ""
		if problem != nil {
			got = fmt.Sprintf("%d:%d: %s", problem.Line, problem.Col, problem.Msg)
		}
		if got != c.want {
			t.Errorf("%q: got  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// FuzzPlaces reads texts that need not be configurations, and looks for each of their values at its position.
func FuzzPlaces(f *testing.F) {
	f.Add("a: 1\nb: [c, {d: 'e'}]\n# f")
	f.Add("é: \"世\"\n世: {😀: [x, y]}\n\ufeffz: |\n  a\n")
	f.Add("? &a x\n: *a\n\"b\": >-\n c")
	f.Fuzz(func(t *testing.T, text string) {
		clean, problem := prepare([]byte(text))
		if problem != nil {
			return
		}
		lines := strings.Split(clean, "\n")
		n, problem := readYAML(clean)
		if problem != nil {
			if p := *problem; p.Line < 1 || p.Col < 1 || p.Line > len(lines) || p.Col > len([]rune(lines[p.Line-1]))+1 {
				t.Fatalf("%q: %v is outside of the text", text, p)
			}
			return
		}
		n.eachText(func(n *node) {
			rest := string([]rune(lines[n.line-1])[n.col-1:])
			first, _, _ := strings.Cut(strings.ReplaceAll(n.text, "\n", " "), " ") // the value may continue on other lines
			switch {
			case n.quoted && strings.ContainsAny(rest[:1], "'\"|>"), strings.HasPrefix(rest, "&"), strings.HasPrefix(rest, "*"):
			case n.quoted || !strings.HasPrefix(rest, first):
				t.Fatalf("%q: %q is not at %d:%d", text, n.text, n.line, n.col)
			}
		})
	})
}

func (n *node) eachText(f func(*node)) {
	if n.kind == scalar {
		f(n)
	}
	for _, k := range append(n.keys[:len(n.keys):len(n.keys)], n.items...) {
		k.eachText(f)
	}
}

// TestSaidOnce has a wrong value that is at one place in the file and at several places in the tree.
func TestSaidOnce(t *testing.T) {
	_, err := Parse("f", []byte("pools:\n  a: &a {weight: -1}\n  b: *a\n  c: *a\n"))
	if want := "f:2:18: weight must be >= 0, got -1"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestReadJSON writes random values as JSON, in three ways, and reads them.
func TestReadJSON(t *testing.T) {
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
			n, problem := readYAML(string(text))
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
	texts := []string{"", "a", "null", "true", "1.5", "it's", "a: b # c", "\"\\/\b\n\t\u2028<>&", "😀é", "- x", "{}", "*a",
		"<<"}
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
