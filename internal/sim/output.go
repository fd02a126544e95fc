package sim

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/sim/swf"
)

// WriteCSV writes the schedule, one line for each job that started, in the order of their numbers.
func (r *Result) WriteCSV(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString("job,submit,start,end,procs\n")
	var line []byte
	for _, i := range r.inOrder() {
		j := &r.Workload.Jobs[i]
		line = line[:0]
		for _, n := range [...]int64{j.ID, j.Submit, r.Schedule.Start[i], r.End(int(i))} {
			line = append(strconv.AppendInt(line, n, 10), ',')
		}
		line = strconv.AppendInt(line, int64(j.Procs), 10)
		out.Write(append(line, '\n'))
	}
	return out.Flush()
}

// inOrder returns the jobs that started, in the order of their numbers.
func (r *Result) inOrder() []int32 {
	var order []int32
	for i := range r.Workload.Jobs {
		if r.Schedule.Started(i) {
			order = append(order, int32(i))
		}
	}
	jobs := r.Workload.Jobs
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(jobs[a].ID, jobs[b].ID) })
	return order
}

// Records returns the trace as the simulation ran it: the lines of the jobs that started, in order of
// submission, with their wait times.
func (r *Result) Records(t *swf.Trace) []swf.Record {
	var records []swf.Record
	for i, j := range r.Workload.Jobs {
		if !r.Schedule.Started(i) {
			continue
		}
		x := t.Records[j.Record]
		x.Submit, x.Wait, x.Run, x.Used, x.Requested, x.Estimate = j.Submit, r.Wait(i), j.Run, j.Procs, j.Procs, j.Estimate
		records = append(records, x)
	}
	return records
}
