package api

import "time"

// Diagnosis holds the findings of doctor.
type Diagnosis struct {
	Version int           `json:"version"`
	At      time.Time     `json:"at"`
	Result  string        `json:"result" enum:"ok,warn,fail" doc:"The worst of the checks"`
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
	Value  *float64 `json:"value,omitempty" doc:"The number that was judged"`
	Unit   string   `json:"unit,omitempty" doc:"Of the value: s, bytes, fraction, or what is counted"`
	WarnAt *float64 `json:"warn_at,omitempty" doc:"From here on it is a warning"`
	FailAt *float64 `json:"fail_at,omitempty" doc:"From here on it has failed"`
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
	At        time.Time `json:"at" doc:"By its clock"`
	Runs      string    `json:"runs,omitempty" enum:"users,own,any" doc:"users: each job as its user; own: only the jobs of its own user; any: all jobs, as its own user"`
	User      string    `json:"user,omitempty" doc:"As whom it runs"`
	AllowRoot bool      `json:"allow_root,omitempty" doc:"It runs the jobs of root, too"`
	Dir       string    `json:"dir,omitempty" doc:"Where it keeps output and scripts"`
	Problem   string    `json:"problem,omitempty" doc:"Why nothing can be written there"`
	FreeBytes int64     `json:"free_bytes,omitempty" doc:"Room there"`
	OpenFiles int64     `json:"open_files,omitempty" doc:"How many files it may have open"`
	MaxMemory int64     `json:"max_memory_bytes,omitempty" doc:"What its control group may have, with all its tasks; 0 is no bound"`
	MaxTasks  int64     `json:"max_tasks,omitempty" doc:"How many processes and threads its control group may have; 0 is no bound"`
	MaxCPUs   float64   `json:"max_cpus,omitempty" doc:"How many processors its control group may use; 0 is no bound"`
}
