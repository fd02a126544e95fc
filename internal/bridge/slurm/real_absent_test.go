//go:build real

package slurm_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/bridge/slurm"
	"github.com/fairlead/fairlead/internal/slurmtest"
)

// TestRealAbsent checks that a real Slurm reports missing partitions and accounts, by its commands and over
// REST.
func TestRealAbsent(t *testing.T) {
	t.Parallel()
	s := slurmtest.Start(t, single(true))
	s.Accounts(t, map[string][]string{"physics": {"root"}})
	url, _ := s.REST(t)
	byREST := &slurm.REST{URL: url, User: "root", Token: func() (string, error) { return s.Token(t, "root"), nil }}
	for _, c := range []struct{ partition, account, want string }{
		{"batch", "physics", ""}, {"closed", "", ""},
		{"nope", "physics", "no partition nope"}, {"batch", "nope", "no account nope"},
	} {
		for _, o := range []slurm.Options{{Conf: s.Conf}, {REST: byREST}} {
			o.Partition, o.Account, o.AllowRoot = c.partition, c.account, true
			q := open(t, o)
			d, err := q.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, f := range d.Found {
				all = append(all, f.Text)
			}
			if text := strings.Join(all, "\n"); (c.want == "") != !strings.Contains(text, "Slurm has no") ||
				!strings.Contains(text, c.want) {
				t.Errorf("%+v over REST %v: %q", c, o.REST != nil, text)
			}
			q.Close()
		}
	}
}
