package agent

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/internal/gpu"
)

// environment returns the environment of a task: its user, its numbers and names, and the variables of its
// job. It contains nothing of the environment of the agent.
func (m *Machine) environment(l *api.Lease, u *account, gpus []gpu.Device) []string {
	env := environ.User(u.name, u.home)
	maps.Copy(env, m.options.Env)
	maps.Copy(env, l.Job.Env)
	cpus := max(1, l.Job.Request["cpu"])
	maps.Copy(env, map[string]string{"FAIRLEAD_NODE": m.options.Name, "FAIRLEAD_CPUS": fmt.Sprint(cpus)})
	if l.Job.Env[environ.Marker] == "" {
		t := environ.Task{Job: l.JobID, Number: l.Number, Attempt: l.Attempt, Name: l.Job.Name, Pool: l.Job.Pool}
		maps.Copy(env, t.Variables())
	}
	maps.Copy(env, m.gpuVariables(gpus))
	if len(gpus) > 0 && env[environ.Compat] == "slurm" {
		env["SLURM_JOB_GPUS"] = gpu.Names(gpus)
	}
	maps.Copy(env, m.gang(l))
	for name, value := range compatible[env[environ.Compat]] {
		if text := value(l); text != "" {
			env[name] = text
		}
	}
	return environ.List(env)
}

// compatible holds the variables that other batch systems set.
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
		"PBS_ARRAYID":     func(l *api.Lease) string { return inArray(l, fmt.Sprint(l.Number)) }, // the name in Torque
	},
}

// processes returns how many processes a task starts.
func processes(l *api.Lease) int64 {
	n, err := strconv.ParseInt(l.Job.Env[environ.Processes], 10, 64)
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
