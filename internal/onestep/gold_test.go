package onestep_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/fairlead/fairlead/internal/onestep"
)

// gold opens a file of results from other programs. The files are not part of the project: FAIRLEAD_GOLD
// names their directory, or they are beside the repository.
func gold(t *testing.T, path string) *os.File {
	t.Helper()
	dir := os.Getenv("FAIRLEAD_GOLD")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "gold")
	}
	f, err := os.Open(filepath.Join(dir, path))
	if err != nil {
		t.Skipf("not compared, as there are no results of other programs here (%v); FAIRLEAD_GOLD names their directory", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// association is a line of sshare: an account or a user of Slurm.
type association struct {
	parent, path       string
	user               bool
	shares             float64
	used               float64
	levelFS, fairShare string
}

// sshare reads the results of a running Slurm.
func sshare(t *testing.T, name string) []association {
	t.Helper()
	rows, err := csv.NewReader(gold(t, filepath.Join("fairtree", name))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, column := range rows[0] {
		at[column] = i
	}
	number := func(text string) float64 {
		x, _ := strconv.ParseFloat(text, 64) // an empty text is 0
		return x
	}
	paths := map[string]string{"root": ""}
	var all []association
	for _, r := range rows[2:] { // the first row is the root
		a := association{
			parent: paths[r[at["parent"]]], user: r[at["user"]] != "", shares: number(r[at["raw_shares"]]), used: number(r[at["usage_set"]]),
			levelFS: r[at["level_fs"]], fairShare: r[at["fairshare"]],
		}
		a.path = r[at["account"]]
		if a.user {
			a.path = r[at["user"]]
		}
		if a.parent != "" {
			a.path = a.parent + "/" + a.path
		}
		if !a.user {
			paths[r[at["account"]]] = a.path
		}
		all = append(all, a)
	}
	return all
}

// asConfig writes the tree as a configuration, and the usage of its users as a state.
func asConfig(all []association, head string) (cfg, state string) {
	tree, pools := map[string][]string{}, ""
	weights := map[string]float64{}
	for _, a := range all {
		tree[a.parent] = append(tree[a.parent], a.path)
		weights[a.path] = a.shares
		if a.user {
			if pools != "" {
				pools += ", "
			}
			pools += fmt.Sprintf(`"%s": {"waiting": 1, "used": %v}`, a.path, a.used)
		}
	}
	var write func(path string) string
	write = func(path string) string {
		text := ""
		for _, kid := range tree[path] {
			text += fmt.Sprintf("%s: {weight: %v, pools: {%s}}, ", filepath.Base(kid), weights[kid], write(kid))
		}
		return text
	}
	return fmt.Sprintf("{policy: fairtree, %shalf_life: none, pools: {%s}}", head, write("")),
		fmt.Sprintf(`{"now": "2026-01-05T08:00:00Z", "capacity": {"slots": 10}, "pools": {%s}}`, pools)
}

// TestFairtreeAgainstSlurm compares level_fs and fairshare with the results of a running Slurm 22.05. With
// compat slurm it compares all of them; otherwise it compares level_fs of all, and the fair shares in trees
// in which no accounts tie.
func TestFairtreeAgainstSlurm(t *testing.T) {
	for _, name := range []string{"three_level.csv", "ties_users.csv", "zero_shares_account.csv"} {
		all := sshare(t, name)
		ties := accountsTie(all)
		for _, head := range []string{"compat: slurm, ", ""} {
			cfg, state := asConfig(all, head)
			r := step(t, cfg, state)
			for _, a := range all {
				compareAssociation(t, name+" "+head, r.Pools[a.path], a, head != "" || !ties)
			}
			if head == "" {
				t.Logf("%s: %d associations, accounts tie: %v", name, len(all), ties)
			}
		}
	}
}

// accountsTie reports whether siblings have the same level_fs and one of them is an account: in that case
// Slurm's program does not follow its documentation.
func accountsTie(all []association) bool {
	return slices.ContainsFunc(all, func(a association) bool {
		return slices.ContainsFunc(all, func(b association) bool {
			return a.path != b.path && a.parent == b.parent && a.levelFS == b.levelFS && !a.user
		})
	})
}

func compareAssociation(t *testing.T, what string, got *onestep.PoolResult, want association, ranks bool) {
	t.Helper()
	if got == nil {
		t.Fatalf("%s: no pool %s", what, want.path)
	}
	level := "inf"
	if l := float64(got.Terms["level_fs"]); !math.IsInf(l, 1) {
		level = fmt.Sprintf("%.6f", l)
	}
	if level != want.levelFS {
		t.Errorf("%s %s: level_fs %s, Slurm has %s", what, want.path, level, want.levelFS)
	}
	if !want.user || !ranks {
		return
	}
	if share := fmt.Sprintf("%.6f", float64(got.Terms["fairshare"])); share != want.fairShare {
		text, _ := json.Marshal(got.Terms)
		t.Errorf("%s %s: fairshare %s, Slurm has %s (%s)", what, want.path, share, want.fairShare, text)
	}
}
