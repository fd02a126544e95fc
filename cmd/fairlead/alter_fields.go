package main

import (
	"github.com/spf13/cobra"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
)

func alterCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "prioritise", past: "changed", states: openStates}
	x.read = x.readFields
	c := x.command("alter", "Change the priority, the pool or the time limit of jobs")
	c.Long = `Change the priority of jobs within their pool or, under the policy multifactor, the
quality of service and the nice value, which affect the priority among all jobs.

--dry-run shows which jobs would start earlier and which later, and changes nothing.

--move-to moves jobs to another pool, if none of their tasks runs. The jobs are treated as if
they were submitted there: their user must be allowed to use the pool, and a job without a
time limit gets the pool's default limit, unless --time names another. Jobs keep their age.
Their past usage stays charged to the old pool.

--time changes the time limit of jobs, if none of their tasks runs, as if they were submitted with that limit.
The jobs keep their place; planned starts are computed again.`
	c.Example = "  fairlead alter 1042 --priority high\n  fairlead alter 1042 --qos high --nice 100\n  fairlead alter 1042 1043 --priority high --dry-run\n  fairlead alter -u ann -t waiting --move-to physics\n  fairlead alter 1042 --time 2h"
	c.Flags().StringVar(&x.priority, "priority", "", "new priority: very_high, high, normal, low or very_low")
	c.Flags().StringVar(&x.qos, "qos", "", "quality of service (multifactor only); \"\" means the name of the priority")
	c.Flags().IntVar(&x.nice, "nice", 0, "lower the job's priority by this number (multifactor only); below 0 for administrators only")
	c.Flags().BoolVar(&x.dry, "dry-run", false, "show how the order of starts would change; change nothing")
	c.Flags().StringVar(&x.limit, "time", "", "new time limit: 90 (minutes), 1:30:00, 60h, unlimited, or pool for the "+
		"pool's default; none of the tasks may run")
	c.Flags().StringVar(&x.pool, "move-to", "", "pool to move the jobs to; none of their tasks may run")
	return c
}

// readFields reads the fields to change from the flags.
func (x *alteration) readFields(c *cobra.Command) error {
	x.raise.Priority = x.priority
	if c.Flags().Changed("qos") {
		x.raise.QOS = &x.qos
	}
	if c.Flags().Changed("nice") {
		x.raise.Nice = &x.nice
	}
	raise := x.priority != "" || x.raise.QOS != nil || x.raise.Nice != nil
	x.tasks = raise
	switch {
	case raise && (x.pool != "" || x.limit != ""):
		return usagef("--priority, --qos and --nice cannot be combined with --move-to or --time; use two commands")
	case x.pool != "" && x.limit == "pool":
		return usagef("--time pool cannot be combined with --move-to. A moved job without a time limit gets the limit of " +
			"its new pool anyway; if the job has a limit, move it first, and then use --time pool")
	case x.pool != "" && x.dry:
		return usagef("--dry-run works with --priority, --qos and --nice; for another pool, use: fairlead why " +
			"JOB --what-if pool=POOL")
	case x.limit != "" && x.dry:
		return usagef("--dry-run works with --priority, --qos and --nice; for another time limit, use: fairlead why " +
			"JOB --what-if t=LIMIT")
	case x.pool != "":
		x.verb, x.past, x.raise.Pool = "move", "moved", x.pool
		return x.readLimit()
	case x.limit != "":
		x.verb = "limit"
		return x.readLimit()
	case !raise:
		return usagef("nothing to change: give --priority (very_high, high, normal, low or very_low), --qos, --nice, " +
			"--time or --move-to (-t and -A only choose jobs); to change resources, cancel the job and submit it again")
	}
	return nil
}

// readLimit reads the new time limit. "pool" stands for the default of the pool, as if -t were left out.
func (x *alteration) readLimit() error {
	if x.limit == "" || x.limit == "pool" {
		return nil
	}
	d, err := units.ParseTimeLimit(x.limit)
	if err != nil {
		return usagef("--time: %w", err)
	}
	if d == 0 {
		d = queue.NoLimit
	}
	x.raise.Limit = d.Seconds()
	return nil
}
