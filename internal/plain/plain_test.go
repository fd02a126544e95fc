package plain

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"regexp"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"näutro 日本 🙂": "näutro 日本 🙂", "a\x1b[2Jb": "a?[2Jb", "a\nb\tc": "a?b?c", "\u202egpj": "?gpj",
		"a\u200bb": "a?b", "\u009b31m": "?31m", "a\u2028b": "a?b", "\xff\x9b": "\ufffd\ufffd", "x\U000e0041": "x?",
	} {
		if got := Line(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[31mred\x1b[0m\n": "red\n", "10%\r20%\r\ndone": "20%\ndone", "a\tb": "a    b", "\x1b]0;title\x07x": "x", "a\x00b": "a?b",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "ann": "ann", "a-b": "a-b", "=1+1": "'=1+1", "+x": "'+x", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "＝1": "'＝1", "é": "é",
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	words := map[string]string{"name": "a\u009b\u202e\u200b\U000e0041é\x7f\u2028\x1b\n"}
	document, err := json.MarshalIndent(words, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	out := JSON(document)
	if i := bytes.IndexFunc(out, hiddenInJSON); i >= 0 {
		t.Errorf("it holds %q: %s", out[i:i+4], out)
	}
	var back map[string]string
	if err := json.Unmarshal(out, &back); err != nil || back["name"] != words["name"] {
		t.Errorf("read again it is %q, want %q (%v)", back, words, err)
	}
}

func TestLines(t *testing.T) {
	type part struct {
		Name   string
		Labels map[string]string
		Any    any
		hidden string
	}
	v := &struct {
		Parts []part
		One   *part
		None  *part
	}{[]part{{Name: "a\nb", Labels: map[string]string{"k\n": "v\x1b"}, Any: 1, hidden: "\n"}}, &part{Name: "\r"}, nil}
	Lines(v)
	p := v.Parts[0]
	if p.Name != "a?b" || p.Labels["k?"] != "v?" || len(p.Labels) != 1 || v.One.Name != "?" || p.hidden != "\n" {
		t.Errorf("got %+v and %+v", p, v.One)
	}
}

// TestWriter writes texts in parts that end anywhere, even within a character.
func TestWriter(t *testing.T) {
	for text, want := range map[string]string{
		"näutro 日本\n\tx": "näutro 日本\n\tx", "a\x1b[2J\u202eb\r\n": "a?[2J?b?\n", "\xff\xc3x\u009b": "??x?",
	} {
		for size := 1; size <= len(text); size++ {
			var out bytes.Buffer
			w := NewWriter(&out)
			for rest := text; rest != ""; {
				n, err := w.Write([]byte(rest[:min(size, len(rest))]))
				if err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if out.String() != want {
				t.Errorf("%q in parts of %d becomes %q, want %q", text, size, out.String(), want)
			}
		}
	}
}

func shown(parts ...string) string {
	var out bytes.Buffer
	o := NewOutput(&out)
	for _, p := range parts {
		o.Write([]byte(p))
	}
	o.Close()
	return out.String()
}

func TestOutput(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain\n\ttext é\n", "plain\n\ttext é\n"},
		{"\x1b[1;31mred\x1b[m", "\x1b[1;31mred\x1b[m\x1b[0m"},
		{"\x1b[38;2;1;2;3mx", "\x1b[38;2;1;2;3mx\x1b[0m"},
		{"\x1b[4:3mx", "\x1b[4:3mx\x1b[0m"},
		{"10%\r20%\n", "10%\r20%\n"},
		{"a\x1b[2J\x1b[H\x1b[10Ab\x08\x07", "ab"},
		{"\x1b]0;title\x07a\x1b]52;c;Y2xpcA==\x1b\\b", "ab"},
		{"\x1bP+q544e\x1b\\a\x1bc\x1b[?1049hb\x1b[>4;2mc", "abc"},
		{"\u202ea\u009b2J\u200b", "?a?2J?"},
	} {
		if got := shown(c.text); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.text, got, c.want)
		}
		if got := shown(strings.Split(c.text, "")...); got != c.want {
			t.Errorf("%q in parts is shown as %q, want %q", c.text, got, c.want)
		}
	}
}

var colour = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// TestOutputOfAnything checks that only the color sequences of any output remain.
func TestOutputOfAnything(t *testing.T) {
	pieces := []string{"\x1b", "[", "]", "2", ";", ":", "m", "J", "?", "\x9b", "\x9d", "\u009b", "\xc2", "\xe4", "\x07", "\x18", "\x1a", "\\", "P", "_", "é", "\u202e", "\n", "\r", "x", "\x7f", "\xff"}
	random := rand.New(rand.NewSource(1))
	for range 100_000 {
		text := ""
		for range 1 + random.Intn(12) {
			text += pieces[random.Intn(len(pieces))]
		}
		rest := strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(colour.ReplaceAllString(shown(text), ""))
		if strings.ContainsFunc(rest, obeyed) || strings.ToValidUTF8(rest, "") != rest {
			t.Fatalf("%q is shown as %q", text, shown(text))
		}
	}
}
