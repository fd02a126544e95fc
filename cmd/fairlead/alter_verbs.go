package main

import (
	"slices"

	"github.com/spf13/cobra"
)

func cancelCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "cancel", past: "canceled", undo: "fairlead uncancel %s", state: "cancelled",
		states: openStates}
	c := x.command("cancel", "Cancel jobs: waiting tasks never start, running ones are stopped")
	c.Long = `Cancel jobs: their waiting tasks never start, and running ones are stopped.

With --waiting or -t waiting, only the waiting tasks of the jobs are canceled, and the running ones
continue. A running task that fails is not retried, whatever --retries says; a task that loses its
node, or is stopped to make room, runs again. The job ends when its last running task has ended: as
cancelled, or as failed if a task failed. If no task of a job runs, the whole job is canceled. The
command fairlead uncancel undoes this, and restores the retries.`
	c.Example = "  fairlead cancel 1042\n  fairlead cancel 1042 --waiting\n  fairlead cancel -u ann -t waiting"
	c.Flags().BoolVar(&x.waiting, "waiting", false, "only the waiting tasks of the jobs; running tasks continue")
	x.read = func(*cobra.Command) error {
		states, err := x.selection.stateNames()
		if err != nil {
			return err
		}
		x.waiting = x.waiting || slices.Equal(states, []string{"waiting"})
		if x.tasks = x.waiting; x.waiting {
			x.part, x.state = "the waiting tasks of ", "" // jobs with running tasks do not become cancelled at once
		}
		return nil
	}
	return c
}

func uncancelCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "uncancel", past: "uncanceled", undo: "fairlead cancel --waiting %s",
		states: []string{"cancelled"}, again: true}
	c := x.command("uncancel", "Undo a cancel: the tasks that it canceled wait again")
	c.Long = `Undo a cancel, with or without --waiting. Canceled tasks wait again; a task that was running
when it was canceled starts over.
Tasks that had succeeded or failed do not run again; to run all tasks of a job again, use
fairlead requeue.

If the cancel is still stopping tasks, the other tasks wait again at once, and the stopped
tasks follow when they have ended. The job keeps its hold and its dependencies. Jobs
that were canceled because they depend on this job are restored with it.`
	c.Example = "  fairlead uncancel 1042\n  fairlead uncancel -u ann --since 1h"
	x.sinceFlag(c)
	return c
}

func holdCommand(a *app) *cobra.Command {
	x := &alteration{app: a, verb: "hold", past: "held", undo: "fairlead release %s", state: "held",
		states: []string{"blocked", "waiting", "queued", "running"}, tasks: true}
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
