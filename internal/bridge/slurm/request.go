package slurm

import (
	"cmp"
	"fmt"
	"maps"
	"os/user"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/bridge"
)

// request is a submission in Slurm's words, whichever way it is sent.
type request struct {
	name, comment           string
	priority                int64
	uid, gid                string // whom it runs as; "" is whoever submits it
	account, partition, qos string

	script []byte
	args   []string
	env    []string // NAME=value
	dir    string
	output string // "": Slurm's own default
	errors string

	tasks, cpus int64
	memory      int64 // megabytes; 0: Slurm's default
	gres        string
	licenses    string
	constraint  string
	minutes     int64 // 0: no limit of its own
}

// request translates a submission. What Slurm could never run as it is meant wraps
// fairlead.ErrInvalid.
func (q *QS) request(s *bridge.Submission) (*request, error) {
	j := s.Job
	switch {
	case s.Priority < lowest || s.Priority > highest:
		return nil, fmt.Errorf("priority %d: Slurm takes %d to %d, and 0 would hold the job; change the levels of the bridge", s.Priority, lowest, highest)
	case j.Gang > 1:
		return nil, invalid("a gang cannot go through a bridge to Slurm task by task: submit one task with -n PROCESSES")
	case !j.Script && len(j.Argv) == 0:
		return nil, invalid("it has no command: jobs for a handler do not run in Slurm")
	}
	r := &request{name: s.Marker, comment: comment(j), priority: s.Priority}
	home, err := q.person(r, j.User)
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("{user}", j.User, "{pool}", j.Pool, "{leaf}", path.Base("/"+j.Pool), "{top}", strings.SplitN(j.Pool, "/", 2)[0]).Replace
	r.account, r.partition, r.qos = fill(q.options.Account), fill(q.options.Partition), fill(q.options.QOS)
	r.dir = cmp.Or(j.Dir, home)
	r.output, r.errors = fileName(cmp.Or(j.Output, fill(q.options.Output)), s), fileName(j.Error, s)
	r.env = environment(s, j, home)
	r.script, r.args = script(j)
	if err := r.size(j); err != nil {
		return nil, err
	}
	return r, nil
}

// Priorities that Slurm takes: 0 holds a job, and the largest numbers mean something else.
const (
	lowest  = 1
	highest = 4_294_901_759
)

func invalid(format string, args ...any) error {
	return bridge.Explain(fairlead.ErrInvalid, format, args...)
}

// comment is what squeue shows beside the marker that is the job's name in Slurm.
func comment(j *fairlead.Job) string {
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, j.Name)
	return fmt.Sprintf("fairlead job %d %s", j.ID, printable)
}

// person says as whom a job runs, and where that user is at home.
func (q *QS) person(r *request, name string) (home string, err error) {
	if as := q.door.runsAs(); as != "" {
		if name != as && !q.options.AnyUser {
			return "", invalid("this bridge submits as %s and does not take the jobs of %s; start it as root, so that each job runs as its user, or let it run the jobs of all users as %s with --any-user yes", as, name, as)
		}
		name = as
	}
	u, err := user.Lookup(name)
	if err != nil {
		return "", invalid("user %s does not exist on the machine of the bridge", name)
	}
	if u.Uid == "0" && !q.options.AllowRoot {
		return "", invalid("this bridge runs nothing as root; submit as another user, or start it with --allow-root yes")
	}
	if q.door.runsAs() == "" {
		// Without the group Slurm would take that of the bridge: root's.
		r.uid, r.gid = u.Uid, u.Gid
	}
	return cmp.Or(u.HomeDir, "/"), nil
}

// size says what the job needs.
func (r *request) size(j *fairlead.Job) error {
	cpus := max(1, j.Request["cpu"])
	r.tasks, r.cpus = 1, cpus
	if n, err := strconv.ParseInt(j.Env["FAIRLEAD_NTASKS"], 10, 64); err == nil && n > 1 && cpus%n == 0 {
		r.tasks, r.cpus = n, cpus/n
	}
	r.memory = (j.Request["mem"] + 1<<20 - 1) >> 20
	var gpus, licenses []string
	for _, name := range slices.Sorted(maps.Keys(j.Request)) {
		if n := j.Request[name]; n > 0 && (name == "gpu" || strings.HasPrefix(name, "gpu:")) {
			gpus = append(gpus, fmt.Sprintf("%s:%d", name, n))
		}
	}
	if len(gpus) > 1 { // what is asked for by type is in the sum, too
		gpus = slices.DeleteFunc(gpus, func(g string) bool { return strings.Count(g, ":") == 1 })
	}
	for _, name := range slices.Sorted(maps.Keys(j.Licenses)) {
		licenses = append(licenses, fmt.Sprintf("%s:%d", name, j.Licenses[name]))
	}
	r.gres, r.licenses = strings.Join(gpus, ","), strings.Join(licenses, ",")
	if j.Limit > 0 {
		r.minutes = int64((j.Limit + time.Minute - 1) / time.Minute)
	}
	r.constraint = strings.ReplaceAll(j.Constraint, " ", "")
	if strings.ContainsAny(r.constraint, "=!<>()") {
		return invalid("constraint %q: in Slurm a node has features, which are names; use names with & or |", j.Constraint)
	}
	return nil
}

// environment is what the job finds: what an agent would give it, so that a script need not
// know where it runs.
func environment(s *bridge.Submission, j *fairlead.Job, home string) []string {
	env := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "USER": j.User, "LOGNAME": j.User, "SHELL": "/bin/sh", "LANG": "C.UTF-8"}
	maps.Copy(env, s.Variables())
	if j.Array != "" {
		env["SLURM_ARRAY_JOB_ID"], env["SLURM_ARRAY_TASK_ID"], env["SLURM_ARRAY_TASK_COUNT"] = fmt.Sprint(j.ID), fmt.Sprint(s.Number), fmt.Sprint(j.Tasks)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}

// fileName fills in what a name of an output file says of the job: %j is its id here, not
// Slurm's. Tasks of an array whose name does not tell them apart get their numbers at the end.
func fileName(pattern string, s *bridge.Submission) string {
	if pattern == "" {
		return ""
	}
	if s.Job.Array != "" && !strings.Contains(strings.ReplaceAll(pattern, "%%", ""), "%a") && !strings.HasPrefix(pattern, "/dev/") {
		pattern += ".%a"
	}
	plain := func(name string) string { return strings.ReplaceAll(strings.ReplaceAll(name, "/", "_"), "%", "%%") }
	id := fmt.Sprint(s.Job.ID)
	return strings.NewReplacer("%%", "%%", "%N", "%N", "%j", id, "%A", id, "%a", fmt.Sprint(s.Number),
		"%x", plain(cmp.Or(s.Job.Name, "job")), "%u", plain(s.Job.User), "%", "%%").Replace(pattern)
}
