package agent

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/process"
)

// account is whom a task runs as.
type account struct {
	name, home string
	as         *process.Identity // nil: as ourselves
}

// user says as whom a job of the named user runs, or why it does not.
func (m *Machine) user(name string) (*account, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	if os.Getuid() != 0 {
		if name != me.Username && !m.options.AnyUser {
			return nil, fmt.Errorf("this agent runs as %s and does not run the jobs of %s; start it as root, so that each job runs as its user, or with --any-user", me.Username, name)
		}
		return &account{name: me.Username, home: me.HomeDir}, nil
	}
	if m.options.AnyUser {
		return &account{name: me.Username, home: me.HomeDir}, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("user %s does not exist on this machine", name)
	}
	id, err := identity(u)
	if err != nil {
		return nil, err
	}
	if id.UID == 0 {
		if !m.options.AllowRoot {
			return nil, fmt.Errorf("this agent runs nothing as root; submit as another user, or start it with --allow-root")
		}
		return &account{name: u.Username, home: u.HomeDir}, nil
	}
	return &account{name: u.Username, home: u.HomeDir, as: id}, nil
}

func identity(u *user.User) (*process.Identity, error) {
	id := &process.Identity{}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("groups of %s: %w", u.Username, err)
	}
	numbers := make([]uint32, 0, len(groups)+2)
	for _, text := range append([]string{u.Uid, u.Gid}, groups...) {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", u.Username, err)
		}
		numbers = append(numbers, uint32(n))
	}
	id.UID, id.GID, id.Groups = numbers[0], numbers[1], numbers[2:]
	return id, nil
}

// directory is where a task runs: where the user asked for, else at home if there is
// one.
func (u *account) directory(dir string) string {
	if dir != "" {
		return dir
	}
	if info, err := os.Stat(u.home); err == nil && info.IsDir() && filepath.IsAbs(u.home) {
		return u.home
	}
	return "/"
}

// environment is what a task sees: who it is, what it is, and what its job asked for.
// Nothing of our own environment is in it.
func (m *Machine) environment(l *api.Lease, u *account, gpus []gpu.Device) []string {
	env := map[string]string{
		"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": u.home, "USER": u.name, "LOGNAME": u.name,
		"SHELL": "/bin/sh", "LANG": "C.UTF-8",
	}
	maps.Copy(env, m.options.Env)
	maps.Copy(env, l.Job.Env)
	cpus := max(1, l.Job.Request["cpu"])
	maps.Copy(env, map[string]string{"FAIRLEAD_NODE": m.options.Name, "FAIRLEAD_CPUS": fmt.Sprint(cpus)})
	if l.Job.Env[MarkerVariable] == "" {
		maps.Copy(env, map[string]string{
			"FAIRLEAD_JOB": fmt.Sprint(l.JobID), "FAIRLEAD_NUMBER": fmt.Sprint(l.Number), "FAIRLEAD_ATTEMPT": fmt.Sprint(l.Attempt),
			"FAIRLEAD_NAME": l.Job.Name, "FAIRLEAD_POOL": l.Job.Pool,
		})
	}
	maps.Copy(env, m.gpuVariables(gpus))
	if len(gpus) > 0 && env[CompatVariable] == "slurm" {
		env["SLURM_JOB_GPUS"] = gpu.Names(gpus)
	}
	maps.Copy(env, m.gang(l))
	for name, value := range compatible[env[CompatVariable]] {
		if text := value(l); text != "" {
			env[name] = text
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// MarkerVariable, in the environment of a job, says that it came from another server through a
// bridge: it knows itself by the numbers that it has there, which are in its environment.
const MarkerVariable = "FAIRLEAD_MARKER"

// CompatVariable, in the environment of a job, names a batch system whose variables
// its script expects: slurm or pbs. The command line sets it for scripts with
// directives of that system.
const CompatVariable = "FAIRLEAD_COMPAT"

var compatible = map[string]map[string]func(*api.Lease) string{
	"slurm": {
		"SLURM_NODELIST":         func(l *api.Lease) string { return strings.Join(distinct(l.Nodes), ",") },
		"SLURM_JOB_NODELIST":     func(l *api.Lease) string { return strings.Join(distinct(l.Nodes), ",") },
		"SLURM_NNODES":           func(l *api.Lease) string { return fmt.Sprint(max(1, len(distinct(l.Nodes)))) },
		"SLURM_JOB_NUM_NODES":    func(l *api.Lease) string { return fmt.Sprint(max(1, len(distinct(l.Nodes)))) },
		"SLURM_NODEID":           nodeID,
		"SLURM_JOB_ID":           func(l *api.Lease) string { return fmt.Sprint(l.JobID) },
		"SLURM_JOBID":            func(l *api.Lease) string { return fmt.Sprint(l.JobID) },
		"SLURM_JOB_NAME":         func(l *api.Lease) string { return l.Job.Name },
		"SLURM_JOB_ACCOUNT":      func(l *api.Lease) string { return l.Job.Pool },
		"SLURM_SUBMIT_DIR":       func(l *api.Lease) string { return l.Job.Dir },
		"SLURM_NTASKS":           func(l *api.Lease) string { return fmt.Sprint(processes(l) * int64(max(1, len(l.Nodes)))) },
		"SLURM_CPUS_PER_TASK":    func(l *api.Lease) string { return fmt.Sprint(max(1, l.Job.Request["cpu"]/processes(l))) },
		"SLURM_ARRAY_JOB_ID":     func(l *api.Lease) string { return inArray(l, fmt.Sprint(l.JobID)) },
		"SLURM_ARRAY_TASK_ID":    func(l *api.Lease) string { return inArray(l, fmt.Sprint(l.Number)) },
		"SLURM_ARRAY_TASK_COUNT": func(l *api.Lease) string { return inArray(l, fmt.Sprint(l.Tasks)) },
		"SLURM_RESTART_COUNT":    func(l *api.Lease) string { return fmt.Sprint(l.Attempt - 1) },
	},
	"pbs": {
		"PBS_JOBID":       func(l *api.Lease) string { return fmt.Sprint(l.JobID) },
		"PBS_JOBNAME":     func(l *api.Lease) string { return l.Job.Name },
		"PBS_O_WORKDIR":   func(l *api.Lease) string { return l.Job.Dir },
		"PBS_ARRAY_INDEX": func(l *api.Lease) string { return inArray(l, fmt.Sprint(l.Number)) },
		"PBS_ARRAYID":     func(l *api.Lease) string { return inArray(l, fmt.Sprint(l.Number)) }, // Torque's name
	},
}

// ProcessesVariable, in the environment of a job, is the --ntasks of its script: how
// many processes its task starts, which share the task's processors.
const ProcessesVariable = "FAIRLEAD_NTASKS"

func processes(l *api.Lease) int64 {
	n, err := strconv.ParseInt(l.Job.Env[ProcessesVariable], 10, 64)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

func inArray(l *api.Lease, text string) string {
	if l.Job.Array == "" {
		return ""
	}
	return text
}

// fileName puts the task into the name of an output file: %j and %A are the id of the
// job, %a the task's number in the array, %x the job's name, %u its user, %N the node.
// Tasks of an array or a gang whose name does not tell them apart would overwrite one
// another, so they get their numbers at the end; devices are not files.
func (m *Machine) fileName(pattern string, l *api.Lease) string {
	if pattern == "" {
		return ""
	}
	if (l.Job.Array != "" || l.Job.Gang > 1) && !strings.Contains(strings.ReplaceAll(pattern, "%%", ""), "%a") && !strings.HasPrefix(pattern, "/dev/") {
		pattern += ".%a"
	}
	plain := func(name string) string { return strings.ReplaceAll(name, "/", "_") }
	return strings.NewReplacer(
		"%%", "%", "%j", fmt.Sprint(l.JobID), "%A", fmt.Sprint(l.JobID), "%a", fmt.Sprint(l.Number),
		"%x", plain(cmp.Or(l.Job.Name, "job")), "%u", l.User, "%N", plain(m.options.Name),
	).Replace(pattern)
}
