package why

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

func TestFormulaEval(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{"a + b * c", 7}, {"(a + b) * c", 9}, {"a - b - c", -4}, {"c ^ b ^ a", 9}, {"c / b", 1.5},
		{"min(a, b) + max(b, c)", 4}, {"2.5 * b", 5}, {"0.5 ^ (c / a)", 0.125},
	} {
		f := NewFormula("test", c.text, "", Term{Name: "a"}, Term{Name: "b"}, Term{Name: "c"})
		if got := f.Eval([]float64{1, 2, 3}); got != c.want {
			t.Errorf("%s = %v, want %v", c.text, got, c.want)
		}
	}
	for _, bad := range []string{"", "a +", "(a", "a b", "d", "min(a)", "a + * b", "3..4", "1e5"} {
		if _, err := ParseFormula(bad, []string{"a", "b", "c"}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzParseFormula(f *testing.F) {
	f.Add("joined + (served + expected) / weight")
	f.Fuzz(func(t *testing.T, text string) {
		if eval, err := ParseFormula(text, []string{"joined", "served", "expected", "weight"}); err == nil {
			eval([]float64{1, 2, 3, 4})
		}
	})
}

func TestNumberRoundTrip(t *testing.T) {
	for _, v := range []float64{0, 1.0 / 3, math.Inf(1), math.Inf(-1), 1e300, -5e-324} {
		text, err := json.Marshal(Number(v))
		if err != nil {
			t.Fatal(err)
		}
		var back Number
		if err := json.Unmarshal(text, &back); err != nil || float64(back) != v {
			t.Errorf("%v became %s became %v, %v", v, text, back, err)
		}
	}
}

func TestShortAndDuration(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1234.5: "1234", 12.345: "12.35", 0.5: "0.5", 4: "4", 1e-6: "1e-06",
		123.46: "123.5", math.Inf(1): "inf"} {
		if got := Short(v); got != want {
			t.Errorf("Short(%v) = %s, want %s", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0ms", 1500 * time.Millisecond: "1.5s", 41 * time.Minute: "41m", 63 * time.Second: "1m3s", 26 * time.Hour: "1d2h", 5 * time.Hour: "5h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestEveryCodeIsExplained(t *testing.T) {
	seen := map[Code]bool{}
	for _, e := range Codes() {
		if seen[e.Code] || e.Meaning == "" {
			t.Errorf("%s appears twice or has no meaning", e.Code)
		}
		seen[e.Code] = true
	}
}
