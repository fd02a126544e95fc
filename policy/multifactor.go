package policy

import (
	"math"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// multifactorPolicy serves the jobs in and below a pool by priority, largest first, regardless of the child that holds
// them (Slurm's priority/multifactor):
//
//	priority = age + fairshare + size + pool + qos + assoc + tres + site - nice        largest first
//
// Each term but nice is a weight times a factor. The factor of age is the time since the submission over max_age, at
// most 1. The factor of fairshare is 2^(-usage / share). The factor of size is the fraction of the capacity that a task
// asks for, or 1 minus that fraction. The factors of tres are the fractions of each resource. The factors of pool and
// assoc are set in the tree, the factor of qos in the configuration. All these factors are from 0 to 1. The factor of
// site is the value that a site rule gives the job. The term nice is the nice value itself, without a weight. Of jobs
// with equal priority the one submitted first goes first.
//
// All terms are rounded to multiples of the same small power of two, so that their sum is exact.
//
// Example: weights age 1000 with max_age 7d, fairshare 10000. Job 8 of ann, submitted a day ago: age 142.857. Ann has
// half the shares and received all past service: fairshare 10000 x 2^(-1 / 0.5) = 2500. Job 9 of bob, submitted now;
// bob used nothing: 10000. Bob's job goes first, 10000 against 2642.857.
type multifactorPolicy struct{}

var multifactor = why.NewFormula("multifactor", "age + fairshare + size + pool + qos + assoc + tres + site - nice",
	why.LargestFirst,
	why.Term{Name: "age", Doc: "of its first waiting job, as part of max_age, times the weight of age"},
	why.Term{Name: "fairshare", Doc: "2^(-usage / share) of the job's pool, times the weight of fairshare"},
	why.Term{Name: "size", Doc: "the part of the capacity that a task of the job asks for, times the weight of size"},
	why.Term{Name: "pool", Doc: "factor of the job's pool, times the weight of pool"},
	why.Term{Name: "qos", Doc: "factor of the job's quality of service, times the weight of qos"},
	why.Term{Name: "assoc", Doc: "assoc_factor of the job's pool, times the weight of assoc"},
	why.Term{Name: "tres", Doc: "for each resource the part of it that a task asks for, times the weight of the resource"},
	why.Term{Name: "site", Doc: "what a rule of the site gives the job, times the weight of site"},
	why.Term{Name: "nice", Doc: "what the job gives up"},
).Phrased("", "priority {key}").TiedBy("the job that was submitted first goes first")

// Formula implements sched.Policy.
func (multifactorPolicy) Formula() *why.Formula { return multifactor }

// Rank implements sched.Ranker.
func (multifactorPolicy) Rank(r sched.Ranked) why.Terms {
	t := why.Terms{Formula: multifactor, Tie: float64(r.Job)}
	t.Values = [why.MaxTerms]float64{r.Age, r.Fairshare, r.Size, r.Pool, r.QOS, r.Assoc, r.TRES, r.Site, r.Nice}
	t.Key = r.Nice - (r.Age + r.Fairshare + r.Size + r.Pool + r.QOS + r.Assoc + r.TRES + r.Site)
	return t
}

// Recompute implements replay.Rule: it takes the job with the highest priority among the jobs that may start.
func (multifactorPolicy) Recompute(c *replay.Choice) (first replay.Standing) {
	best := math.Inf(-1)
	for j := range c.Jobs(true) {
		var values [why.MaxTerms]float64
		for i := range min(len(j.Terms), len(values)) {
			values[i] = float64(j.Terms[i])
		}
		if key, id := c.Key(values), float64(j.ID); key > best || key == best && id < first.Tie {
			best, first = key, replay.Standing{Values: values, Tie: id}
		}
	}
	return first
}

// Zero implements sched.Zeroer: jobs of a pool without a share have the fairshare factor 0.
func (multifactorPolicy) Zero() {}

var (
	_ sched.Ranker = multifactorPolicy{}
	_ replay.Rule  = multifactorPolicy{}
)
