package engine

import "testing"

// TestStoredDrains: a stored drain keeps its parts. Texts of earlier versions are read as well, and the words about a
// drain are the same as before.
func TestStoredDrains(t *testing.T) {
	for text, want := range map[string]struct {
		d     Drain
		words string
	}{
		"fan (by root)":   {Drain{Reason: "fan", By: "root"}, "drained: fan (by root)"},
		"(by root)":       {Drain{By: "root"}, "drained (by root)"},
		"no reason given": {Drain{Reason: "no reason given"}, "drained: no reason given"},
		"maintenance\nswitch (room 3) (by ann)": {
			Drain{Maintenance: true, Reason: "switch (room 3)", By: "ann"},
			"maintenance: switch (room 3) (by ann)",
		},
		"maintenance\n(by ann)":       {Drain{Maintenance: true, By: "ann"}, "maintenance (by ann)"},
		"{}, no JSON":                 {Drain{Reason: "{}, no JSON"}, "drained: {}, no JSON"},
		"3 users (by the server)":     {Drain{Reason: "3 users", SetAside: true}, "drained: 3 users (by the server)"},
		`{"reason":"ends (by noon)"}`: {Drain{Reason: "ends (by noon)"}, "drained: ends (by noon)"},
		`{"maintenance":true}`:        {Drain{Maintenance: true}, "maintenance: no reason given"},
	} {
		got, err := drains.read(text)
		if err != nil || got != want.d || got.Text() != want.words {
			t.Errorf("%q: %+v, %q, %v; want %+v, %q", text, got, got.Text(), err, want.d, want.words)
		}
		stored, err := drains.encode(got)
		again, err2 := drains.read(stored)
		if err != nil || err2 != nil || again != got {
			t.Errorf("%q: stored as %s, and read as %+v: %v %v", text, stored, again, err, err2)
		}
	}
}
