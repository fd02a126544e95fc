package swf

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Job is a job that can be simulated. Times are in seconds. Record is the index of its line.
type Job struct {
	ID       int64
	Submit   int64
	Run      int64 // 0 or more
	Estimate int64 // Run or more
	Procs    int32 // from 1 to the size of the machine
	Record   int32
	// NoEstimate says that the trace has no estimate, so Estimate is the run time.
	NoEstimate bool
}

// Rules say how jobs are made from the lines of a trace.
type Rules struct {
	Procs  int  // size of the machine; 0: from the trace
	Extend bool // a run time above the estimate extends the estimate, instead of being cut
	Clip   bool // a job larger than the machine gets all processors, instead of being omitted
	// From and To bound the submission: From <= submit < To. Nil means no bound.
	From, To *int64
	// ScaleLoad divides the time between submissions; 0 means 1, no change.
	ScaleLoad float64
}

// ErrNoProcs is returned if neither the rules nor the trace give the size of the machine.
var ErrNoProcs = errors.New("the trace does not say how many processors the machine has (; MaxProcs: N)")

// machine returns the number of processors from the rules, or else from the trace.
func (t *Trace) machine(rules Rules) (int, error) {
	if n := cmp.Or(rules.Procs, t.Procs); n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("%s: %w", t.Name, ErrNoProcs)
}

// Jobs returns the jobs that can be simulated, in the order of submission and number:
//
//   - A job asks for the processors of field 8, or else of field 5.
//   - Its estimate is the time of field 9, or else its run time.
//   - A run time above the estimate is cut to the estimate, as real systems end jobs at
//     their limits; with Extend, it extends the estimate.
//   - A run time of 0 is less than a second: the job starts and ends in the same second.
//   - Jobs omits jobs that were canceled before they ran, parts of jobs that another
//     line sums up, lines without submission, run time or processors, and jobs that are
//     larger than the machine.
//
// The report counts every omission and change.
func (t *Trace) Jobs(rules Rules) ([]Job, Report, error) {
	report := Report{Lines: len(t.Records), Rounded: t.Rounded, Extra: t.Extra, ScaleLoad: cmp.Or(rules.ScaleLoad, 1)}
	procs, err := t.machine(rules)
	if err != nil {
		return nil, report, err
	}
	report.Procs = procs
	if !(report.ScaleLoad > 0) || math.IsInf(report.ScaleLoad, 0) {
		return nil, report, fmt.Errorf("the load cannot be scaled by %v: expected a number above 0, such as 1.2",
			rules.ScaleLoad)
	}
	jobs := make([]Job, 0, len(t.Records))
	for i := range t.Records {
		if j, ok := report.job(&t.Records[i], &rules, procs); ok {
			j.Record = int32(i)
			jobs = append(jobs, j)
		}
	}
	if !slices.IsSortedFunc(jobs, order) {
		report.Sorted = true
		slices.SortStableFunc(jobs, order)
	}
	if report.ScaleLoad != 1 && len(jobs) > 0 {
		first := jobs[0].Submit
		for i := range jobs {
			jobs[i].Submit = first + int64(float64(jobs[i].Submit-first)/report.ScaleLoad)
			if jobs[i].Submit > maxSeconds {
				return nil, report, fmt.Errorf("with its load scaled by %v the trace would last more than a century: use a larger factor, or --from and --to", report.ScaleLoad)
			}
		}
	}
	report.Jobs = len(jobs)
	return jobs, report, nil
}

// order is the order of the queue.
func order(a, b Job) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID)) }

// job makes a job from a line, or counts the reason to omit it.
func (p *Report) job(r *Record, rules *Rules, procs int) (Job, bool) {
	j := Job{ID: r.Job, Submit: r.Submit, Run: r.Run, Estimate: r.Estimate, Procs: r.Requested}
	if j.Procs <= 0 {
		j.Procs = r.Used
	}
	out := p.leaveOut(r, &j, rules)
	if out == nil && int(j.Procs) > procs {
		if !rules.Clip {
			out = &p.TooLarge
		} else {
			p.Clipped++
			j.Procs = int32(procs)
		}
	}
	if out != nil {
		*out++
		return j, false
	}
	if j.Run == 0 {
		p.Instant++
	}
	switch {
	case j.Estimate <= 0:
		p.NoEstimate++
		j.Estimate, j.NoEstimate = j.Run, true
	case j.Run > j.Estimate && rules.Extend:
		p.Extended++
		j.Estimate = j.Run
	case j.Run > j.Estimate:
		p.Killed++
		j.Run = j.Estimate
	}
	return j, true
}

// leaveOut returns the counter of the reason to omit a line, or nil to keep it.
func (p *Report) leaveOut(r *Record, j *Job, rules *Rules) *int {
	switch {
	case r.Submit < 0:
		return &p.NoSubmit
	case rules.From != nil && r.Submit < *rules.From || rules.To != nil && r.Submit >= *rules.To:
		return &p.Outside
	case r.Status == PartGoesOn || r.Status == PartLast || r.Status == PartFailed:
		return &p.Parts
	case r.Status == Cancelled && r.Run <= 0:
		return &p.Cancelled
	case r.Run < 0:
		return &p.NoRun
	case j.Procs <= 0:
		return &p.NoProcs
	}
	return nil
}
