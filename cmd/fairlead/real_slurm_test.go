//go:build real

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/slurmtest"
)

// TestRealSlurm imports the accounts of a Slurm, writes the usage of sshare into a state, and compares the
// result of step with sshare: the shares of all associations, and the order of the users.
func TestRealSlurm(t *testing.T) {
	slurm := useSlurm(t)
	cluster := slurm("scontrol", "show", "config")
	_, cluster, _ = strings.Cut(cluster, "ClusterName")
	cluster, _, _ = strings.Cut(strings.TrimLeft(cluster, " ="), "\n")
	dir := t.TempDir()
	dump, configured, state := filepath.Join(dir, "dump.cfg"), filepath.Join(dir, "fairlead.yaml"), filepath.Join(dir, "state.json")
	slurm("sacctmgr", "dump", strings.TrimSpace(cluster), "file="+dump)
	var out, errs bytes.Buffer
	if status := run([]string{"config", "import", "-o", configured, dump}, nil, &out, &errs); status != 0 {
		t.Fatalf("import ends with %d: %s", status, &errs)
	}
	asProgram(t, configured)
	all := readShares(t, slurm("sshare", "-a", "-n", "-P", "-o", "Account,User,NormShares,RawUsage,FairShare"))
	writeState(t, state, all)
	if status := run([]string{"step", "--json", "--config", configured, "--state", state}, nil, &out, &errs); status != 0 {
		t.Fatalf("step ends with %d: %s", status, &errs)
	}
	var step struct {
		Pools map[string]struct {
			Share float64
			Rank  int
			Terms map[string]any
		}
	}
	if err := json.Unmarshal(out.Bytes(), &step); err != nil {
		t.Fatal(err)
	}
	users := 0
	for _, a := range all {
		p, ok := step.Pools[a.path]
		if !ok || math.Abs(p.Share-a.share) > 1e-5 {
			t.Errorf("%s: share %v, in Slurm %v", a.path, p.Share, a.share)
		}
		if !a.user {
			continue
		}
		users++
		if is, ok := p.Terms["fairshare"].(float64); ok && math.Abs(is-a.fairshare) > 1e-5 {
			t.Errorf("%s: fairshare %v, in Slurm %v", a.path, is, a.fairshare)
		}
		for _, b := range all {
			if b.user && a.fairshare > b.fairshare && p.Rank >= step.Pools[b.path].Rank {
				t.Errorf("%s has rank %d, %s %d; in Slurm their fair shares are %v and %v", a.path, p.Rank, b.path, step.Pools[b.path].Rank, a.fairshare, b.fairshare)
			}
		}
	}
	if !slices.ContainsFunc(all, func(a association) bool { return a.used > 0 }) {
		t.Error("nobody has used anything: this compares nothing")
	}
	t.Logf("%d associations, %d of them users: shares and order are those of Slurm", len(all), users)
}

// asProgram ranks tied accounts as Slurm's program does, instead of as its documentation says.
func asProgram(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("compat: slurm\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// useSlurm returns a function that runs the commands of the Slurm with which the test compares.
func useSlurm(t *testing.T) func(name string, args ...string) string {
	t.Helper()
	s := usedSlurm(t)
	return func(name string, args ...string) string { return s.Do(t, name, args...) }
}

// usedSlurm starts a Slurm with a tree of accounts and usage of some users.
func usedSlurm(t *testing.T) *slurmtest.Slurm {
	t.Helper()
	s := slurmtest.Start(t, slurmtest.Options{})
	for _, add := range []string{
		"account physics fairshare=5", "account theory parent=physics fairshare=1", "account lab parent=physics fairshare=2", "account biology fairshare=3",
		"user games account=theory fairshare=1", "user man account=theory fairshare=3", "user lp account=lab fairshare=1",
		"user mail account=biology fairshare=2", "user news account=biology fairshare=1", "user games account=biology fairshare=1",
	} {
		s.Do(t, "sacctmgr", append([]string{"-i", "add"}, strings.Fields(add)...)...)
	}
	s.SetUsage(t, map[string]float64{"theory/games": 1200, "theory/man": 900, "lab/lp": 5000, "biology/mail": 2000, "biology/games": 700})
	return s
}

// association is one line of sshare.
type association struct {
	path            string
	user            bool
	share           float64 // share of the cluster
	used, fairshare float64
}

// readShares parses the output of sshare, in which accounts are indented by their depth.
func readShares(t *testing.T, text string) []association {
	t.Helper()
	var all []association
	above := []association{{share: 1}}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		account := strings.TrimLeft(f[0], " ")
		depth := len(f[0]) - len(account)
		if depth == 0 {
			continue
		}
		name := account
		a := association{user: f[1] != ""}
		if a.user {
			name = f[1]
		}
		numbers := make([]float64, 3)
		for i := range numbers {
			numbers[i], _ = strconv.ParseFloat(f[2+i], 64) // accounts have no fair share
		}
		up := above[depth-1]
		a.path, a.share, a.used, a.fairshare = strings.TrimPrefix(up.path+"/"+name, "/"), up.share*numbers[0], numbers[1], numbers[2]
		above = append(above[:depth], a)
		all = append(all, a)
	}
	if len(all) == 0 {
		t.Fatal("sshare shows no accounts")
	}
	return all
}

// writeState writes a state in which every user has one waiting task.
func writeState(t *testing.T, name string, all []association) {
	t.Helper()
	pools := map[string]any{}
	for _, a := range all {
		if a.user {
			pools[a.path] = map[string]any{"waiting": 1, "used": a.used}
		}
	}
	text, err := json.Marshal(map[string]any{"now": "2026-01-05T08:00:00Z", "capacity": map[string]int{"cpu": len(pools)}, "pools": pools})
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
