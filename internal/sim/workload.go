package sim

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/share"
)

// Job is one of the jobs of a workload. Times are in seconds.
type Job struct {
	ID       int64
	Submit   int64
	Run      int64
	Estimate int64 // the time limit, which plans use
	Procs    int32
	User     int32 // in Workload.Users
	Pool     int32 // in Workload.Pools
	Record   int32 // line of the trace, if the job came from one
	NoLimit  bool  // no user asked for Estimate: plans use the core's prediction
	Running  bool  // it already runs when it is submitted, if there is room
}

// Workload holds the jobs to schedule on a machine of equal processors. The processors are on one node, or on
// Nodes nodes of equal size.
type Workload struct {
	Name  string
	Procs int
	Nodes int
	Zero  time.Time // of second 0
	Jobs  []Job     // in order of submission, and of their numbers
	Users []string
	Pools []string // paths

	Limits Limited // effects of Limit and Plan
}

// FromTrace makes a workload of the jobs of a trace. The function "place" returns the pool for a job's origin; without
// it each user has a pool.
//
// The numbers of a trace become names: user 12 is u12, group 3 is g3; the executable 5 is the kind e5, and
// queue 2 the requestor q2.
func FromTrace(t *swf.Trace, jobs []swf.Job, procs int, place func(share.Origin) (string, error)) (*Workload, error) {
	w := &Workload{Name: t.Name, Procs: procs, Zero: time.Unix(t.UnixStartTime, 0).UTC(), Jobs: make([]Job, len(jobs))}
	if place == nil {
		place = func(o share.Origin) (string, error) { return o.User, nil }
	}
	users, pools := numbering{}, numbering{}
	type origin struct{ user, group, app, queue int32 }
	placed := map[origin][2]int32{}
	for i, j := range jobs {
		r := &t.Records[j.Record]
		from := origin{r.User, r.Group, r.App, r.Queue}
		at, known := placed[from]
		if !known {
			o := share.Origin{User: name("u", r.User), Group: name("g", r.Group), Kind: name("e", r.App),
				Requestor: name("q", r.Queue)}
			path, err := place(o)
			if err != nil {
				return nil, fmt.Errorf("job %d of %s: %w", j.ID, o.User, err)
			}
			at = [2]int32{users.of(o.User), pools.of(path)}
			placed[from] = at
		}
		w.Jobs[i] = Job{
			ID: j.ID, Submit: j.Submit, Run: j.Run, Estimate: j.Estimate, Procs: j.Procs, User: at[0], Pool: at[1], Record: j.Record, NoLimit: j.NoEstimate,
		}
	}
	w.Users, w.Pools = users.names, pools.names
	return w, nil
}

// name returns the name for a number of a trace.
func name(letter string, n int32) string {
	if n < 0 {
		return "unknown"
	}
	return fmt.Sprint(letter, n)
}

// numbering numbers names in the order in which it meets them.
type numbering struct {
	names  []string
	number map[string]int32
}

func (n *numbering) of(name string) int32 {
	i, ok := n.number[name]
	if !ok {
		if n.number == nil {
			n.number = map[string]int32{}
		}
		i = int32(len(n.names))
		n.names = append(n.names, name)
		n.number[name] = i
	}
	return i
}

// Limited counts the effects of the time limits of pools on a workload.
type Limited struct {
	Refused int `json:"above_max_time"`        // removed, because their pool allows less
	Given   int `json:"given_default_time"`    // named no limit, and got the default of their pool
	Ended   int `json:"ended_at_default_time"` // of these, the jobs that ran for longer
}
