package main

import "github.com/spf13/cobra"

func cancelCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "cancel", past: "canceled", undo: "fairlead uncancel %s", state: "cancelled",
		states: openStates}
	c := x.command("cancel", "Cancel jobs: waiting tasks never start, running ones are stopped")
	c.Example = "  fairlead cancel 1042\n  fairlead cancel -u ann -t waiting"
	return c
}

func uncancelCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "uncancel", past: "uncanceled", undo: "fairlead cancel %s",
		states: []string{"cancelled"}, again: true}
	c := x.command("uncancel", "Undo a cancel: the tasks that it canceled wait again")
	c.Long = `Undo a cancel. Tasks that had waited wait again, and tasks that were stopped run again
from the start. Tasks that had succeeded or failed do not run again; to run all tasks of a
job again, use fairlead requeue.

If the cancel is still stopping tasks, the tasks that had waited wait again at once, and the
stopped tasks follow when they have ended. The job keeps its hold and its dependencies. Jobs
that were canceled because they depend on this job are restored with it.`
	c.Example = "  fairlead uncancel 1042\n  fairlead uncancel -u ann --since 1h"
	x.sinceFlag(c)
	return c
}

func holdCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "hold", past: "held", undo: "fairlead release %s", state: "held", states: []string{"blocked", "waiting", "queued", "running"}}
	c := x.command("hold", "Hold jobs: waiting tasks do not start, running ones continue")
	c.Long = `Hold jobs: their waiting tasks do not start until the jobs are released; running tasks continue.
why and queue show who holds a job, and the reason if one is given. If an administrator holds a job of
another user, only an administrator can release it.`
	c.Example = "  fairlead hold 1042 --reason 'the file server is full'"
	return c
}

func releaseCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "release", past: "released", undo: "fairlead hold %s", states: []string{"held"}}
	return x.command("release", "Release held jobs")
}

func requeueCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "requeue", past: "requeued", undo: "fairlead cancel %s",
		states: []string{"queued", "running", "failed", "cancelled"}, again: true}
	c := x.command("requeue", "Run jobs again; running ones are stopped first")
	c.Long = `Run jobs again: ended jobs from the start, running jobs after they are stopped. A
requeued job does not wait again for the jobs that it depended on. Tasks that had succeeded
run again, too; to restore only canceled tasks, use fairlead uncancel.`
	c.Example = "  fairlead requeue 1042\n  fairlead requeue -u ann -t failed --since 24h"
	x.sinceFlag(c)
	return c
}

func alterCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "prioritise", past: "changed", states: openStates}
	c := x.command("alter", "Change the priority, the pool or the time limit of jobs")
	c.Long = `Change the priority of jobs within their pool. Under the policy multifactor, change the
quality of service and the nice value, which count for the priority among all jobs.

--dry-run shows which jobs would start earlier and which later, and changes nothing.

--move-to moves jobs to another pool, if none of their tasks runs. The jobs are treated as if
they were submitted there: their user has to be allowed to use the pool, and a job without a
time limit gets that of the pool. Jobs keep their place by age. Their past usage stays charged
to the old pool.

--time changes the time limit of jobs, if none of their tasks runs, as if they were submitted with it.
The jobs keep their place; planned starts are computed again.`
	c.Example = "  fairlead alter 1042 --priority high\n  fairlead alter 1042 --qos high --nice 100\n  fairlead alter 1042 1043 --priority high --dry-run\n  fairlead alter -u ann -t waiting --move-to physics\n  fairlead alter 1042 --time 2h"
	c.Flags().StringVar(&x.priority, "priority", "", "new priority: very_high, high, normal, low or very_low")
	c.Flags().StringVar(&x.qos, "qos", "", "quality of service (multifactor only); \"\" follows the priority")
	c.Flags().IntVar(&x.nice, "nice", 0, "lower the job's priority by this number (multifactor only); below 0 for administrators only")
	c.Flags().BoolVar(&x.dry, "dry-run", false, "show how the order of starts would change; change nothing")
	c.Flags().StringVar(&x.limit, "time", "", "new time limit: 90 (minutes), 1:30:00, 60h, unlimited, or pool for the "+
		"pool's default; none of the tasks may run")
	c.Flags().StringVar(&x.pool, "move-to", "", "pool to move the jobs to; none of their tasks may run")
	return c
}
