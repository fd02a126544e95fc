package cluster

import (
	"strings"
	"testing"
)

func TestConstraint(t *testing.T) {
	labels := Labels{"arch": "amd64", "rack": "b", "gpu_type": "a100", "ssd": "yes"}
	for _, c := range []struct {
		text, canonical string
		allows          bool
	}{
		{"", "", true},
		{"  ", "", true},
		{"arch=amd64", "arch=amd64", true},
		{"arch==amd64", "arch=amd64", true},
		{"arch=amd", "arch=amd", false},
		{"arch=amd64 & rack!=b", "arch=amd64 & rack!=b", false},
		{"rack!=b&arch=amd64", "arch=amd64 & rack!=b", false},
		{"gpu_type=h100|a100", "gpu_type=a100|h100", true},
		{"rack!=a|b", "rack!=a|b", false},
		{"rack!=a|c", "rack!=a|c", true},
		{"room!=1", "room!=1", true},
		{"room=1", "room=1", false},
		{"ssd & !old", "!old & ssd", true},
		{"!ssd", "!ssd", false},
		{"old | ssd", "old | ssd", true},
		{"ssd|rack=a", "ssd | rack=a", true},
		{"rack=a|rack=b", "rack=a | rack=b", true},
		{"old | rack!=a", "old | rack!=a", true},
		{"arch=arm64|amd64 & ssd & ssd", "arch=amd64|arm64 & ssd", true},
	} {
		got, err := ParseConstraint(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got.String() != c.canonical {
			t.Errorf("%q is written %q, want %q", c.text, got, c.canonical)
		}
		if got.Allows(labels) != c.allows {
			t.Errorf("%q allows %v: %v", c.text, labels, !c.allows)
		}
		again, err := ParseConstraint(got.String())
		if err != nil || again.String() != got.String() {
			t.Errorf("%q is read as %q again, %v", got, again, err)
		}
	}
}

func TestConstraintErrorsShowThePlace(t *testing.T) {
	for _, c := range []struct {
		text, message string
		at            int
	}{
		{"=a", "expected the name", 0},
		{"a=", "expected a value", 2},
		{"a &", "expected the name", 3},
		{"a b", "expected & or |", 2},
		{"(a|b) & c", "no parentheses", 0},
		{"[a|b]", "no parentheses", 0},
		{"a,b", "write & for both", 1},
		{"cuda>=12", "by = and != only", 4},
		{"!a=b", "write a!=value", 2},
		{"a!=b|c=d", "after != only", 5},
		{"rack=ä", "expected a value", 5},
	} {
		_, err := ParseConstraint(c.text)
		e, ok := err.(*ConstraintError)
		if !ok {
			t.Errorf("%q: %v, want an error", c.text, err)
			continue
		}
		if e.At != c.at || !strings.Contains(e.Message, c.message) {
			t.Errorf("%q: at %d: %s; want at %d: ...%s...", c.text, e.At, e.Message, c.at, c.message)
		}
	}
	if _, err := ParseConstraint(strings.Repeat("a", maxConstraint+1)); err == nil {
		t.Error("a text beyond all bounds was read")
	}
}

func FuzzParseConstraint(f *testing.F) {
	f.Add("arch=amd64 & rack!=b|c", "arch", "amd64")
	f.Add("ssd | disk=nvme & !old", "disk", "nvme")
	f.Fuzz(func(t *testing.T, text, name, value string) {
		c, err := ParseConstraint(text)
		if err != nil {
			if e := err.(*ConstraintError); e.At > len(text) {
				t.Fatalf("%q: at %d", text, e.At)
			}
			return
		}
		again, err := ParseConstraint(c.String())
		if err != nil || again.String() != c.String() {
			t.Fatalf("%q is written %q and read as %q, %v", text, c, again, err)
		}
		if l := (Labels{name: value}); c.Allows(l) != again.Allows(l) {
			t.Fatalf("%q and %q differ on %v", text, c, l)
		}
	})
}
