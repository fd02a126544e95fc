//go:build real

package slurm_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/bridge/slurm"
	"github.com/fairlead/fairlead/internal/slurmtest"
)

// TestRealAbsent: a real Slurm tells which partitions and accounts it has.
func TestRealAbsent(t *testing.T) {
	t.Parallel()
	s := slurmtest.Start(t, single(false))
	s.Accounts(t, map[string][]string{"physics": {"root"}})
	for _, c := range []struct{ partition, account, want string }{
		{"batch", "physics", ""}, {"closed", "", ""},
		{"nope", "physics", "no partition nope"}, {"batch", "nope", "no account nope"},
	} {
		q := open(t, slurm.Options{Conf: s.Conf, Partition: c.partition, Account: c.account, AllowRoot: true})
		d, err := q.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range d.Found {
			all = append(all, f.Text)
		}
		if text := strings.Join(all, "\n"); (c.want == "") != !strings.Contains(text, "Slurm has no") || !strings.Contains(text, c.want) {
			t.Errorf("%+v: %q", c, text)
		}
		q.Close()
	}
}
