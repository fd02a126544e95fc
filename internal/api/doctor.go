package api

import "time"

// Diagnosis holds the findings of doctor.
type Diagnosis struct {
	Version int           `json:"version"`
	At      time.Time     `json:"at"`
	Result  string        `json:"result" enum:"ok,warn,fail" doc:"The worst result of the checks"`
	Checks  []HealthCheck `json:"checks"`
}

// The results of a check, from best to worst.
const (
	ResultOK   = "ok"
	ResultWarn = "warn"
	ResultFail = "fail"
)

// HealthCheck is the result of one check by doctor.
type HealthCheck struct {
	Name   string `json:"name"`
	Result string `json:"result" enum:"ok,warn,fail"`
	Text   string `json:"text"`
	// Value is the measured number in Unit, and WarnAt and FailAt are its bounds.
	Value  *float64 `json:"value,omitempty" doc:"The measured number"`
	Unit   string   `json:"unit,omitempty" doc:"Unit of the value: s, bytes, fraction, or the name of the counted things"`
	WarnAt *float64 `json:"warn_at,omitempty" doc:"Smallest value that is a warning"`
	FailAt *float64 `json:"fail_at,omitempty" doc:"Smallest value that is a failure"`
	Next   string   `json:"next,omitempty" doc:"What to do"`
}

// Worst returns the worst result of the checks.
func Worst(checks []HealthCheck) string {
	rank := map[string]int{ResultOK: 0, ResultWarn: 1, ResultFail: 2}
	worst := ResultOK
	for _, c := range checks {
		if rank[c.Result] > rank[worst] {
			worst = c.Result
		}
	}
	return worst
}

// Facts are what an agent reports about its machine and itself.
type Facts struct {
	At        time.Time `json:"at" doc:"Time by the clock of the agent"`
	Runs      string    `json:"runs,omitempty" enum:"users,own,any" doc:"users: each job as its user; own: only the jobs of its own user; any: all jobs, as its own user"`
	User      string    `json:"user,omitempty" doc:"User of the agent"`
	AllowRoot bool      `json:"allow_root,omitempty" doc:"The agent also runs jobs of root"`
	Dir       string    `json:"dir,omitempty" doc:"Directory for output and scripts"`
	Problem   string    `json:"problem,omitempty" doc:"Why the agent cannot write there"`
	FreeBytes int64     `json:"free_bytes,omitempty" doc:"Free space there"`
	OpenFiles int64     `json:"open_files,omitempty" doc:"Maximum number of open files"`
	MaxMemory int64     `json:"max_memory_bytes,omitempty" doc:"Memory limit of its control group, with all its tasks; 0 is no limit"`
	MaxTasks  int64     `json:"max_tasks,omitempty" doc:"Limit of processes in its control group, with threads; 0 is no limit"`
	MaxCPUs   float64   `json:"max_cpus,omitempty" doc:"Limit of processors in its control group; 0 is no limit"`
}
