package slurm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/frontback"
)

// fresh is how long a configuration that was read counts as current.
const fresh = time.Minute

// configuration returns the configuration of slurmctld, at most fresh old.
func (q *QS) configuration(ctx context.Context) (*config, error) {
	q.mu.Lock()
	known := q.config
	if time.Since(q.read) > fresh {
		known = nil
	}
	q.mu.Unlock()
	if known != nil {
		return known, nil
	}
	c, err := q.door.configuration(ctx)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.config, q.read = c, time.Now()
	return c, nil
}

// Describe reads how Slurm computes priorities, and whether we may set them.
func (q *QS) Describe(ctx context.Context) (frontback.Queue, error) {
	d := frontback.Queue{Name: "Slurm", Lowest: lowest, Highest: highest}
	c, err := q.door.configuration(ctx)
	if err != nil {
		return d, err
	}
	if name := (*c)["ClusterName"]; name != "" {
		d.Name = "Slurm (" + name + ")"
	}
	may, who := q.privilege(ctx, c)
	d.Obeys = may
	doubt := func(broken bool, format string, args ...any) {
		d.Found = append(d.Found, frontback.Doubt{Broken: broken, Text: fmt.Sprintf(format, args...)})
	}
	q.mu.Lock()
	other := q.other
	q.mu.Unlock()
	switch {
	case may == frontback.No:
		doubt(true, "%s is not an operator of Slurm, so Slurm silently ignores the priorities that the bridge sets; let an "+
			"administrator run: sacctmgr modify user %s set adminlevel=Operator", who, who)
	case may == frontback.Unknown:
		doubt(false, "cannot check whether %s may set priorities: slurmdbd does not answer", who)
	case other != nil:
		d.Obeys = frontback.No
		doubt(true, "the bridge gave job %s the priority %d, but it has %d: a job submit plugin or an "+
			"administrator has changed it",
			other.id, other.asked, other.got)
	}
	// The plugin does not touch a priority that was set directly.
	d.Ages = frontback.No
	if kind := (*c)["PriorityType"]; may != frontback.Yes && kind == "" {
		d.Ages = frontback.Unknown
	} else if may != frontback.Yes && kind != "priority/basic" {
		d.Ages = frontback.Yes
		doubt(may == frontback.No, "without that right, %s decides the order, with the weights %s", kind, weights(*c))
	}
	d.Found = append(append(d.Found, doubts(*c)...), q.absent(ctx, *c)...)
	return d, nil
}

// absent returns a doubt if Slurm does not have the partition or the account of the options, because Slurm
// would then refuse every submission. It skips a name that each job fills in, and returns no doubt if Slurm
// does not answer.
func (q *QS) absent(ctx context.Context, c config) []frontback.Doubt {
	var found []frontback.Doubt
	for _, o := range []struct{ what, name, lists string }{
		{partition, q.options.Partition, "sinfo"}, {account, q.options.Account, "sacctmgr show account"},
	} {
		if o.name == "" || strings.Contains(o.name, "{") || o.what == account && !accounts(c) {
			continue
		}
		for _, name := range strings.Split(o.name, ",") { // a list of partitions: Slurm takes one of them
			if there, err := q.door.has(ctx, o.what, name); err == nil && !there {
				found = append(found, frontback.Doubt{
					Broken: true, Text: fmt.Sprintf("Slurm has no %s %s, which --%s names: list them with %s", o.what, name,
						o.what, o.lists),
				})
			}
		}
	}
	return found
}

// leastJobAge is how long slurmctld should know a job after its end: the time for which the bridge waits
// for the accounting, plus a margin for a busy slurmdbd.
const leastJobAge = time.Minute

// doubts returns other problems of a configuration.
func doubts(c config) []frontback.Doubt {
	var found []frontback.Doubt
	if kind, told := c["AccountingStorageType"]; told && kind != "accounting_storage/slurmdbd" {
		found = append(found, frontback.Doubt{
			Broken: true,
			Text: fmt.Sprintf("AccountingStorageType is %s: Slurm keeps the ends of jobs only for MinJobAge (%s), and a bridge "+
				"that was away for longer misses them; set up slurmdbd", kind, c["MinJobAge"]),
		})
	}
	if keeps := c.duration("MinJobAge", leastJobAge); keeps > 0 && keeps < leastJobAge {
		found = append(found, frontback.Doubt{
			Text: "MinJobAge is " + c["MinJobAge"] + ": slurmctld may forget jobs before slurmdbd knows all of them; set it " +
				"to 60 or more",
		})
	}
	if plugins := c["JobSubmitPlugins"]; plugins != "" {
		found = append(found, frontback.Doubt{
			Text: "JobSubmitPlugins is " + plugins + ", which may change priorities; the first jobs will show",
		})
	}
	if kind := c["PreemptType"]; kind != "" && kind != "preempt/none" {
		found = append(found, frontback.Doubt{
			Text: "PreemptType is " + kind + ": jobs may be put back after they have started, whatever their priority",
		})
	}
	return found
}

// privilege reports whether we may set priorities, and who we are.
func (q *QS) privilege(ctx context.Context, c *config) (frontback.Answer, string) {
	who := q.door.runsAs()
	superuser, _, _ := strings.Cut((*c)["SlurmUser"], "(")
	if who == "" || who == "root" || who == superuser {
		return frontback.Yes, "root"
	}
	rank, err := q.door.rank(ctx)
	switch {
	case err != nil:
		return frontback.Unknown, who
	case strings.HasPrefix(rank, "Operator"), strings.HasPrefix(rank, "Admin"):
		return frontback.Yes, who
	}
	return frontback.No, who
}

// weights returns the weights of the priority plugin that are not 0.
func weights(c config) string {
	var all []string
	for _, name := range []string{"Age", "FairShare", "JobSize", "Partition", "QOS", "Assoc"} {
		if value := c["PriorityWeight"+name]; value != "" && value != "0" {
			all = append(all, strings.ToLower(name)+" "+value)
		}
	}
	if len(all) == 0 {
		return "0"
	}
	return strings.Join(all, ", ")
}
