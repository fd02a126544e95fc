// Package mq is the common part of bridges to message queues: the messages in the queue, the reports of
// workers, and a worker that runs the tasks.
//
// A queue holds a [Task] for each attempt. The worker that takes it out sends a [Report] that it has started,
// and another that says how it ended, and only then deletes the task. The guarantee depends on this order: if
// a task is not in the queue and has no report, it was never there.
package mq
