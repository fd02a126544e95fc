package share

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNamed(t *testing.T) {
	for text, want := range map[string][]string{
		"":             nil,
		"ann":          {"ann"},
		"default":      {"default", "=64efault"},
		"a b":          {"a=20b"},
		"a=20b":        {"a=20b", "a=3D20b"},
		"guests/a b":   {"guests/a=20b", "guests=2Fa=20b"},
		"guests/a=20b": {"guests/a=20b", "guests/a=3D20b", "guests=2Fa=3D20b"},
		"a/b":          {"a/b", "a=2Fb"},
		"x y/z":        {"x=20y/z", "x=20y=2Fz"},
		"x//y":         {"x/=2Fy", "x=2F=2Fy"},
		"x/":           {"x=2F"},
		`"a/b"`:        {"a=2Fb", "=22a=2Fb=22"},
		`x/"a/b"/y`:    {"x/a=2Fb/y", "x/=22a=2Fb=22=2Fy", "x=2F=22a=2Fb=22=2Fy"},
		`"a`:           {"=22a"},
	} {
		if got := Named(text); !slices.Equal(got, want) {
			t.Errorf("%q may mean %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "", "a b": "a=20b", "guests/a b": "guests/a=20b", "guests/a/b": "guests/a/b", `guests/"a/b"`: "guests/a=2Fb",
		"x/": "", "x//y": "", "a/b/c/d/e/f/g/h/i": "", "x y/z": "x=20y/z", `"x y/z"`: "x=20y=2Fz", "default": "default",
	} {
		if got := Reading(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
	if got := Named(strings.Repeat("/", 1<<20)); len(got) > 2*MaxDepth {
		t.Errorf("%d paths", len(got))
	}
}

func TestOriginal(t *testing.T) {
	for path, want := range map[string]string{
		"":                     "",
		"physics/ann":          "physics/ann",
		"guests/a=20b":         "guests/a b",
		"cust=3A42":            "cust:42",
		"a=2Fb":                `"a/b"`,
		"=64efault":            `"default"`,
		"CORP=5Cann":           `CORP\ann`,
		"=5F":                  `"_"`,
		"a=3D20b":              `"a=20b"`,
		"=2E.":                 `".."`,
		"a=1Bb":                "a=1Bb",
		"a=E2=80=AEb":          "a=E2=80=AEb",
		"a=20":                 "a=20",
		"a=22b":                "a=22b",
		"a=FFb":                "a=FFb",
		"a=xy":                 "a=xy",
		"x=20y/theory/caf=C3=": "x y/theory/caf=C3=",
	} {
		if got := Original(path); got != want {
			t.Errorf("%q is shown as %q, want %q", path, got, want)
		}
	}
}

// TestOriginalsDiffer: no two paths are shown alike, and a shown path is found again.
func TestOriginalsDiffer(t *testing.T) {
	names := rapid.StringOf(rapid.RuneFrom([]rune("ab= :/._\"\\\x1bé\u202e20FdD")))
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.Map(names, UserPool), 1, 3).Draw(t, "segments"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := path.Draw(t, "a"), path.Draw(t, "b")
		if a != b && Original(a) == Original(b) {
			t.Fatalf("%q and %q are both shown as %s", a, b, Original(a))
		}
		if shown := Original(a); !slices.Contains(Named(shown), a) {
			t.Fatalf("%q is shown as %s, which means %q", a, shown, Named(shown))
		}
	})
}
