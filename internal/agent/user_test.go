package agent

import (
	"fmt"
	"maps"
	"os/exec"
	"os/user"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/queue"
)

func TestFileNames(t *testing.T) {
	a := &Machine{options: Options{Name: "n1"}}
	for _, c := range []struct{ pattern, array, want string }{
		{"", "0-9", ""}, {"out", "", "out"}, {"%j-%x-%u-%N.txt", "", "17-my_job-ann-n1.txt"}, {"100%%", "", "100%"},
		{"slurm-%A_%a.out", "0-9", "slurm-17_3.out"}, {"out", "0-9", "out.3"}, {"slurm-%j.out", "0-9", "slurm-17.out.3"},
		{"%%a", "0-9", "%a.3"}, {"%%%a", "0-9", "%3"}, {"/dev/null", "0-9", "/dev/null"},
	} {
		l := &api.Lease{
			Ref: queue.Ref{JobID: 17, Task: 3}, Number: 3, User: "ann", Job: api.Spec{Name: "my/job", Array: c.array},
		}
		if got := a.fileName(c.pattern, l); got != c.want {
			t.Errorf("%q of array %q: %q, want %q", c.pattern, c.array, got, c.want)
		}
	}
}

func TestVariablesOfOtherSystems(t *testing.T) {
	a := &Machine{options: Options{Name: "n1"}, gpus: gpu.NewPool([]gpu.Device{{ID: "2"}, {ID: "7"}})}
	for _, c := range []struct {
		env   map[string]string
		array string
		want  []string
		not   string
		nodes []string
	}{
		{
			map[string]string{environ.Compat: "slurm"}, "1-4",
			[]string{
				"SLURM_NTASKS=1", "SLURM_CPUS_PER_TASK=8", "SLURM_JOB_GPUS=7", "SLURM_ARRAY_TASK_COUNT=4", "SLURM_ARRAY_TASK_ID=3",
			}, "", nil,
		},
		{
			map[string]string{environ.Compat: "slurm", environ.Processes: "4"}, "",
			[]string{"SLURM_NTASKS=4", "SLURM_CPUS_PER_TASK=2"}, "SLURM_ARRAY_TASK_COUNT=", nil,
		},
		{map[string]string{environ.Compat: "slurm", environ.Processes: "x"}, "", []string{"SLURM_NTASKS=1"}, "", nil},
		{map[string]string{environ.Compat: "pbs"}, "1-4", []string{"PBS_ARRAYID=3", "PBS_ARRAY_INDEX=3"}, "", nil},
		{
			map[string]string{environ.Compat: "slurm", environ.Processes: "4"}, "",
			[]string{"SLURM_NTASKS=12", "SLURM_NNODES=2", "SLURM_NODELIST=n0,n1", "SLURM_NODEID=0"}, "",
			[]string{"n0", "n0", "n1"},
		},
	} {
		l := &api.Lease{
			Number: 3, Tasks: 4, Nodes: c.nodes, Job: api.Spec{Array: c.array, Env: c.env, Request: map[string]int64{"cpu": 8}},
		}
		got := a.environment(l, &account{}, []gpu.Device{{ID: "7"}})
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%v: %q is not in %q", c.env, want, got)
			}
		}
		if c.not != "" &&
			slices.ContainsFunc(got, func(s string) bool { return len(s) >= len(c.not) && s[:len(c.not)] == c.not }) {
			t.Errorf("%v: %s is in %q", c.env, c.not, got)
		}
	}
}

// TestVariablesOfGangs checks that a task knows its rank, the size of its gang, and the nodes of the gang.
func TestVariablesOfGangs(t *testing.T) {
	for _, c := range []struct {
		node  string
		task  int
		nodes []string
		want  string
	}{
		{"n1", 0, nil, "0 0 1 1 n1"},
		{"n1", 7, nil, "0 0 1 1 n1"}, // a task of an array starts alone
		{"n1", 0, []string{"n1", "n2"}, "0 0 2 2 n1,n2"},
		{"n2", 3, []string{"n1", "n2", "n2", "n2"}, "3 2 4 2 n1,n2,n2,n2"},
	} {
		a := &Machine{options: Options{Name: c.node}}
		env := a.gang(&api.Lease{Ref: queue.Ref{JobID: 17, Task: c.task}, Nodes: c.nodes})
		got := strings.Join(
			[]string{
				env["FAIRLEAD_RANK"], env["FAIRLEAD_LOCAL_RANK"], env["FAIRLEAD_TASKS"], env["FAIRLEAD_NODES"],
				env["FAIRLEAD_NODELIST"],
			}, " ")
		if got != c.want {
			t.Errorf("task %d of %v: %s, want %s", c.task, c.nodes, got, c.want)
		}
	}
}

// TestAdmits checks that an agent refuses accounts of the system, and users whom --users and --groups leave
// out.
func TestAdmits(t *testing.T) {
	daemon, err := user.Lookup("daemon")
	if err != nil {
		t.Skip(err)
	}
	id, err := identity(daemon)
	if err != nil {
		t.Fatal(err)
	}
	group, err := user.LookupGroupId(daemon.Gid)
	if err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct {
		options Options
		refused string
	}{
		"all":             {Options{}, ""},
		"its own number":  {Options{MinUID: int(id.UID)}, ""},
		"people":          {Options{MinUID: 1000}, "system accounts, and daemon has uid " + daemon.Uid},
		"named":           {Options{Users: []string{"ann", "daemon"}}, ""},
		"named, a system": {Options{Users: []string{"daemon"}, MinUID: 1000}, "system accounts"},
		"in a group":      {Options{Users: []string{"ann"}, Groups: []string{"hpc", group.Name}}, ""},
		"others": {Options{Users: []string{"ann"}, Groups: []string{"hpc"}},
			"only the jobs of user ann, group hpc, and daemon"},
	} {
		m := &Machine{options: c.options}
		err := m.admits(daemon, id)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
		if err != nil && unstarted(err).Refused != queue.RefusedRule {
			t.Errorf("%s counts as a fault of the machine: %+v", name, unstarted(err))
		}
	}
	if o := unstarted(notRun("user ann does not exist on this machine")); o.Refused != queue.RefusedUser {
		t.Errorf("a missing user: %+v", o)
	}
}

// TestIdentityHasAllGroups checks that a task has the groups that the machine gives its user.
func TestIdentityHasAllGroups(t *testing.T) {
	for _, name := range []string{"root", "nobody", "daemon", "backup", "games"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		out, err := exec.Command("id", "-G", name).Output()
		if err != nil {
			t.Skip(err)
		}
		id, err := identity(u)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{fmt.Sprint(id.GID): true}
		for _, g := range id.Groups {
			got[fmt.Sprint(g)] = true
		}
		want := map[string]bool{}
		for _, g := range strings.Fields(string(out)) {
			want[g] = true
		}
		if !maps.Equal(got, want) || fmt.Sprint(id.UID) != u.Uid {
			t.Errorf("%s: groups %v, want %v", name, got, want)
		}
	}
}
