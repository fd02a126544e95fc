package bounded_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/bounded"
)

func TestText(t *testing.T) {
	const most = 100
	for _, text := range []string{
		"", "short", "\xff", strings.Repeat("é", most/2), strings.Repeat("é", most), "x" + strings.Repeat("é", most),
	} {
		got := bounded.Text(text, most)
		if len(got) > most || !utf8.ValidString(got) || utf8.ValidString(text) && len(text) <= most && got != text {
			t.Errorf("%.10q: %d bytes", text, len(got))
		}
		if len(text) > most && !strings.HasSuffix(got, "...") {
			t.Errorf("%.10q: nothing says that the rest is left out", text)
		}
	}
	if got := bounded.Text("a\x00b\xff", most); got != "a?b?" {
		t.Errorf("a text with NUL and a byte that is not UTF-8 is %q", got)
	}
}
