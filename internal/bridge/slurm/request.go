package slurm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/queue"
)

// request is a submission in the terms of Slurm, for the commands and for REST.
type request struct {
	name, comment           string
	priority                int64
	uid, gid                string // as whom the job runs; "": the user of the bridge
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

// Priorities that Slurm takes: 0 holds a job, and the largest numbers have other meanings.
const (
	lowest  = 1
	highest = 4_294_901_759
)

// comment returns the text that squeue shows beside the marker, which is the job's name in Slurm.
func comment(j *queue.Job) string {
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, j.Name)
	return fmt.Sprintf("fairlead job %d %s", j.ID, printable)
}

// size sets the resources that the job needs.
func (r *request) size(j *queue.Job) error {
	cpus := max(1, j.Request["cpu"])
	r.tasks, r.cpus = 1, cpus
	if n, err := strconv.ParseInt(j.Env[environ.Processes], 10, 64); err == nil && n > 1 && cpus%n == 0 {
		r.tasks, r.cpus = n, cpus/n
	}
	r.memory = (j.Request["mem"] + 1<<20 - 1) >> 20
	var gpus, licenses []string
	for _, name := range slices.Sorted(maps.Keys(j.Request)) {
		if n := j.Request[name]; n > 0 && (name == "gpu" || strings.HasPrefix(name, "gpu:")) {
			gpus = append(gpus, fmt.Sprintf("%s:%d", name, n))
		}
	}
	if len(gpus) > 1 { // the sum includes requests by type
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

// environment returns the environment of the job: the variables that an agent would set, so that a script
// need not know where it runs.
func environment(s *bridge.Submission, j *queue.Job, home string) []string {
	env := environ.User(j.User, home)
	maps.Copy(env, s.Variables())
	if j.Array != "" {
		env["SLURM_ARRAY_JOB_ID"], env["SLURM_ARRAY_TASK_ID"] = fmt.Sprint(j.ID), fmt.Sprint(s.Number)
		env["SLURM_ARRAY_TASK_COUNT"] = fmt.Sprint(j.Tasks)
	}
	return environ.List(env)
}

// fileName expands the name of an output file: %j is the id of the job in Fairlead, not in Slurm. If the job
// has an array and the pattern has no %a, fileName appends the task's number, except to devices.
func fileName(pattern string, s *bridge.Submission) string {
	if pattern == "" {
		return ""
	}
	if s.Job.Array != "" && !strings.Contains(strings.ReplaceAll(pattern, "%%", ""), "%a") &&
		!strings.HasPrefix(pattern, "/dev/") {
		pattern += ".%a"
	}
	plain := func(name string) string { return strings.ReplaceAll(strings.ReplaceAll(name, "/", "_"), "%", "%%") }
	id := fmt.Sprint(s.Job.ID)
	return strings.NewReplacer("%%", "%%", "%N", "%N", "%j", id, "%A", id, "%a", fmt.Sprint(s.Number),
		"%x", plain(cmp.Or(s.Job.Name, "job")), "%u", plain(s.Job.User), "%", "%%").Replace(pattern)
}
