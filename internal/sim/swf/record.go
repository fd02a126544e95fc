package swf

// Unknown is the value of a field whose real value is unknown.
const Unknown = -1

// Record is a line: one job, or a part of one. Times are in seconds, memory in KiB.
type Record struct {
	Job       int64
	Submit    int64 // since the beginning of the log
	Wait      int64
	Run       int64
	CPU       float64 // average time per processor
	Memory    int64   // average per processor
	Estimate  int64   // requested time
	ReqMemory int64   // per processor
	After     int64   // job that must end before this one
	Think     int64   // time from that end to the submission
	Used      int32   // processors
	Requested int32   // processors
	Status    int32
	User      int32
	Group     int32
	App       int32 // number of the executable
	Queue     int32
	Partition int32
}

// The values of Record.Status. A job that was stopped and continued later has one line for each part, and
// another line that sums them up.
const (
	Failed     = 0
	Completed  = 1
	PartGoesOn = 2
	PartLast   = 3 // completed
	PartFailed = 4
	Cancelled  = 5
)

// fields is the number of numbers on a line, in the order of table.
const fields = 18

// field describes one of the numbers of a line.
type field struct {
	name string
	max  float64
	set  func(*Record, int64)
	get  func(*Record) int64
}

const (
	maxCount = 1<<31 - 1
	// maxSeconds is about 120 years. It covers instants since 1970, and their nanoseconds do not overflow.
	maxSeconds = 4e9
	maxAmount  = 1e15
)

// cpuField is the only field that may have a fraction.
const cpuField = 5

var table = [fields]field{
	{"job number", maxAmount, func(r *Record, n int64) { r.Job = n }, func(r *Record) int64 { return r.Job }},
	{"submit time", maxSeconds, func(r *Record, n int64) { r.Submit = n }, func(r *Record) int64 { return r.Submit }},
	{"wait time", maxSeconds, func(r *Record, n int64) { r.Wait = n }, func(r *Record) int64 { return r.Wait }},
	{"run time", maxSeconds, func(r *Record, n int64) { r.Run = n }, func(r *Record) int64 { return r.Run }},
	{"processors", maxCount, func(r *Record, n int64) { r.Used = int32(n) },
		func(r *Record) int64 { return int64(r.Used) }},
	{"average CPU time", maxAmount, func(r *Record, n int64) { r.CPU = float64(n) }, nil},
	{"memory", maxAmount, func(r *Record, n int64) { r.Memory = n }, func(r *Record) int64 { return r.Memory }},
	{"requested processors", maxCount, func(r *Record, n int64) { r.Requested = int32(n) },
		func(r *Record) int64 { return int64(r.Requested) }},
	{"requested time", maxSeconds, func(r *Record, n int64) { r.Estimate = n },
		func(r *Record) int64 { return r.Estimate }},
	{"requested memory", maxAmount, func(r *Record, n int64) { r.ReqMemory = n },
		func(r *Record) int64 { return r.ReqMemory }},
	{"status", maxCount, func(r *Record, n int64) { r.Status = int32(n) },
		func(r *Record) int64 { return int64(r.Status) }},
	{"user", maxCount, func(r *Record, n int64) { r.User = int32(n) }, func(r *Record) int64 { return int64(r.User) }},
	{"group", maxCount, func(r *Record, n int64) { r.Group = int32(n) }, func(r *Record) int64 { return int64(r.Group) }},
	{"executable", maxCount, func(r *Record, n int64) { r.App = int32(n) },
		func(r *Record) int64 { return int64(r.App) }},
	{"queue", maxCount, func(r *Record, n int64) { r.Queue = int32(n) }, func(r *Record) int64 { return int64(r.Queue) }},
	{"partition", maxCount, func(r *Record, n int64) { r.Partition = int32(n) },
		func(r *Record) int64 { return int64(r.Partition) }},
	{"preceding job", maxAmount, func(r *Record, n int64) { r.After = n }, func(r *Record) int64 { return r.After }},
	{"think time", maxSeconds, func(r *Record, n int64) { r.Think = n }, func(r *Record) int64 { return r.Think }},
}
