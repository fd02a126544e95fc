package foreign_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/foreign"
	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/policy"
)

// everything offers all features that a configuration may ever use.
var everything = foreign.Features{
	Policies:   map[string]bool{"fair": true, "fifo": true, "deficit": true, "drf": true, "fairtree": true},
	ZeroWeight: true, Reclaim: true,
	Capacity: map[string]int64{"cpu": 100, "mem": 400 << 30},
}

// little returns the features that every version offers.
func little() foreign.Features {
	can := foreign.Features{Policies: map[string]bool{}}
	for _, name := range policy.Names() {
		can.Policies[name] = true
	}
	return can
}

// TestGolden reads the sources in testdata, whose comments explain them, and compares the results: the
// configuration, and the outcome of each setting.
func TestGolden(t *testing.T) {
	for _, source := range sources(t) {
		t.Run(filepath.Base(source), func(t *testing.T) {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(source)
			r, err := foreign.Read(name, foreign.Detect(text), text, everything)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			b.Write(r.YAML)
			b.WriteString("\n-- every setting --\n")
			for _, i := range r.Items {
				b.WriteString(strings.Repeat(" ", 4-len(itoa(i.Line))) + itoa(i.Line) + " " + i.String() + "\n")
			}
			golden.Check(t, strings.TrimSuffix(source, filepath.Ext(source))+".golden", b.String())
		})
	}
}

func sources(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"testdata/*.xml", "testdata/*.cfg"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		all = append(all, files...)
	}
	return all
}

// TestPassesCheck checks that the features of this version lead to a configuration without errors.
func TestPassesCheck(t *testing.T) {
	for _, source := range sources(t) {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		r, err := foreign.Read(source, foreign.Detect(text), text, little())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := config.Parse(source, r.YAML); err != nil {
			t.Errorf("%s:\n%s\n%v", source, r.YAML, err)
		}
	}
}

// TestRefused checks that a source that cannot be read is refused quickly, with the line.
func TestRefused(t *testing.T) {
	bomb := "<!DOCTYPE a [<!ENTITY b \"" + strings.Repeat("x", 1000) +
		"\"><!ENTITY c \"&b;&b;&b;&b;\">]>\n<allocations>&c;</allocations>"
	for _, c := range []struct{ name, from, text, want string }{
		{"empty", foreign.Hadoop, "", "line 1, column 1: the file has no element"},
		{"not closed", foreign.Hadoop, "<allocations>\n<queue name='a'>\n</allocations>",
			"line 3: this is not XML: element <queue> closed by </allocations>"},
		{"site", foreign.Hadoop, "<configuration/>", "line 1: this is a file of properties"},
		{"other", foreign.Hadoop, "<html/>", "line 1: the root element is <html>"},
		{"two", foreign.Hadoop, "<allocations/>\n<allocations/>", "line 2, column 1: a second element"},
		{"text", foreign.Hadoop, "<allocations/>\nx", "line 1, column 15: there is text outside"},
		{"bomb", foreign.Hadoop, bomb, "line 1, column 1: document types"},
		{"entity", foreign.Hadoop, "<allocations>\n&b;</allocations>",
			"line 2: this is not XML: invalid character entity &b;"},
		{"external", foreign.Hadoop, "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><allocations/>", "document types"},
		{"charset", foreign.Hadoop, "<?xml version='1.0' encoding='latin1'?><allocations/>", "declares the encoding latin1"},
		{"deep", foreign.Hadoop, strings.Repeat("<queue>", 100_000), "nested deeper than 64"},
		{"many", foreign.Hadoop, "<allocations>" + strings.Repeat("<a/>", 100_000) + "</allocations>",
			"more than 50000 elements"},
		{"large", foreign.Hadoop, "<allocations>" + strings.Repeat(" ", 1<<20) + "</allocations>", "larger than 1 MiB"},
		{"bytes", foreign.Hadoop, "<allocations>\n\xff</allocations>", "line 2: the file is not UTF-8"},
		{"no lines", foreign.Slurm, "# nothing\n", "has no lines of a dump"},
		{"title", foreign.Slurm, "Cluster - 'a'\nQueue - 'b'", "line 2: expected a line such as"},
		{"quote", foreign.Slurm, "Account - 'b:Fairshare=1", "line 1: a quote ' is not closed"},
		{"nameless", foreign.Slurm, "Account - :Fairshare=1", "line 1: the name behind \"Account -\" is missing"},
		{"no value", foreign.Slurm, "Account - a:Fairshare", "line 1: expected a setting"},
		{"orphan", foreign.Slurm, "Parent - 'b'", "line 1: account \"b\" is not in the lines above"},
		{"twice", foreign.Slurm, "Account - a\nAccount - A", "line 2: account A appears twice"},
		{"clusters", foreign.Slurm, "Cluster - a\nCluster - b", "line 2: a second cluster"},
		{"long", foreign.Slurm, "Account - " + strings.Repeat("a", 1<<17), "longer than 65536 bytes"},
		{"kind", "pbs", "x", "is not a format"},
	} {
		_, err := foreign.Read(c.name, c.from, []byte(c.text), everything)
		var refused *foreign.Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeff\n <?xml version='1.0'?>":    foreign.Hadoop,
		"# a\n\nCluster - 'a':Fairshare=1":  foreign.Slurm,
		"Parent - root\nAccount - a":        foreign.Slurm,
		"pools: {a: {}}":                    foreign.Fairlead,
		"":                                  foreign.Fairlead,
		"# Cluster - 'a'\npolicy: fair\n":   foreign.Fairlead,
		"Users - are listed below\nUser - ": foreign.Fairlead,
	} {
		if got := foreign.Detect([]byte(text)); got != want {
			t.Errorf("%q is taken for %s, want %s", text, got, want)
		}
	}
}
