package submit

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/queue"
)

// Options are the options of a job, as their flags hold them.
type Options struct {
	Name, Kind, Key string
	Pool            string // of the job; empty: by the placement rules
	Hold            bool
	Size
	Order
	Needs
	Times
	Files

	sbatch []string       // options of sbatch that are not flags here
	flags  *pflag.FlagSet // with all flags of the options
}

// Size is the request of each task, and the number of tasks of the job.
type Size struct {
	CPUs            int
	Mem, MemPerCPU  string
	GPUs            []string
	Request         map[string]int
	Nodes, Tasks    int // of a gang
	Array           string
	MaxRunning      int
	Licenses, Rates []string
}

// Order holds the options that decide when it is the job's turn.
type Order struct {
	Priority, QOS, Requestor string
	Nice                     int
}

// Needs holds the requirements of the job on its nodes.
type Needs struct{ Constraint, Reservation string }

// Times are the times of a job, and the jobs that it waits for.
type Times struct {
	Limit, Begin, Backoff string
	Retries               int
	After                 []string
}

// Files are the files and variables of a job.
type Files struct {
	Output, Error, Dir, Export string
	// Base is the directory of the submitter, to which Dir is relative. If it is empty, the job runs in the home
	// directory of its user, or in an absolute Dir.
	Base string
	// Environ holds the variables of the submitter, as NAME=VALUE.
	Environ []string
}

// AddFlags adds the flags of the options to a set. The options keep the set: directives of scripts set its flags.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	o.flags = f
	f.StringVarP(&o.Name, "name", "J", "", "name of the job")
	f.IntVarP(&o.CPUs, "cpus", "c", 0, "processors per task (default 1)")
	f.StringVar(&o.Mem, "mem", "", "memory per task, e.g. 4G; chooses a node, and is not enforced")
	f.StringVar(&o.MemPerCPU, "mem-per-cpu", "", "memory per processor")
	f.StringSliceVarP(&o.GPUs, "gpus", "G", nil, "GPUs per task: a number, or with a type, e.g. a100:2")
	f.IntVarP(&o.Nodes, "nodes", "N", 0, "number of nodes; starts one task per node, all at once")
	f.IntVarP(&o.Tasks, "tasks", "n", 0, "number of tasks to start at once, on any nodes")
	f.StringVarP(&o.Constraint, "constraint", "C", "", "node label constraint, e.g. 'arch=amd64 & rack!=b'")
	f.StringVar(&o.Reservation, "reservation", "", "run in this reservation of nodes; see fairlead reserve")
	f.StringToIntVar(&o.Request, "request", nil, "further resources per task, e.g. tape=1")
	f.StringSliceVarP(&o.Licenses, "licenses", "L", nil,
		"licenses that each task holds while it runs, e.g. matlab:1,ansys:2")
	f.StringSliceVar(&o.Rates, "rate", nil, "rates that limit the starts of tasks, e.g. linkedin")
	f.StringVarP(&o.Limit, "time", "t", "", "time limit: 90 (minutes), 1:30:00, 60h, unlimited (default: the pool's)")
	f.StringVarP(&o.Pool, "pool", "A", o.Pool, "pool to charge (default: by the placement rules)")
	f.StringVarP(&o.Kind, "kind", "k", "",
		"kind of work, a name such as mpi: chooses the workers that run the job, and may choose its pool")
	f.StringVar(&o.Priority, "priority", "", "priority within the pool: very_high, high, normal, low, very_low")
	f.StringVar(&o.QOS, "qos", "", "quality of service (multifactor only; default: the name of the priority)")
	f.IntVar(&o.Nice, "nice", 0,
		"lower the job's priority by this number (multifactor only); below 0 for administrators only")
	f.StringVarP(&o.Array, "array", "a", "", "task numbers, e.g. 0-99%10 (ten at once)")
	f.IntVar(&o.MaxRunning, "max-running", 0, "maximum number of tasks that run at once; replaces the %N of --array")
	f.StringSliceVarP(&o.After, "after", "d", nil, "jobs to wait for: 12, ok:12, failed:12, any:12")
	f.StringVarP(&o.Begin, "begin", "b", "", "earliest start: 16:00, +2h, tomorrow 08:00, 2026-12-24T08:00")
	f.BoolVarP(&o.Hold, "hold", "H", false, "hold the job until it is released")
	f.IntVar(&o.Retries, "retries", 0, "number of retries of a task that fails")
	f.StringVar(&o.Backoff, "backoff", "", "delay before the first retry; doubles each time (default 5s)")
	f.StringVarP(&o.Output, "output", "o", "",
		"file for the output; %j job, %a number, %x name, %N node (default: fairlead logs)")
	f.StringVarP(&o.Error, "error", "e", "", "file for the error output (default: with the output)")
	f.StringVarP(&o.Dir, "chdir", "D", "", "working directory (default: this one)")
	f.StringVar(&o.Export, "export", "", "variables to pass: ALL, NONE, or NAME,NAME=VALUE")
	f.StringVar(&o.Requestor, "requestor", "", "text that placement rules may match (default: your name)")
	f.StringVar(&o.Key, "key", "",
		"idempotency key, a text of your choice: a second submission with it submits nothing, and prints the same job")
	Decimal(f)
}

// given reports whether a flag was set.
func (o *Options) given(flag string) bool { return o.flags.Changed(flag) }

// settleMaxRunning decides which bound of the running tasks holds, because the array may have one, too. The bound that
// the user gave goes before that of the script. The set has the flags that the script set.
func (o *Options) settleMaxRunning(set map[string]bool) {
	switch numbers, _, both := strings.Cut(o.Array, "%"); {
	case !both || !o.given("max-running"):
	case set["max-running"] && !set["array"]:
		o.MaxRunning = 0
	default:
		if _, _, err := queue.ParseArray(o.Array); err == nil { // otherwise the array is refused as it was typed
			o.Array = numbers
		}
	}
}

// FlagError is a fault in the value of a flag.
type FlagError struct {
	Flag string // its long name
	Err  error
}

// Error implements error.
func (e *FlagError) Error() string { return "--" + e.Flag + ": " + e.Err.Error() }

// Unwrap returns the fault.
func (e *FlagError) Unwrap() error { return e.Err }

// wrong returns a fault in the value of a flag.
func wrong(flag, format string, args ...any) error {
	return &FlagError{flag, fmt.Errorf(format, args...)}
}
