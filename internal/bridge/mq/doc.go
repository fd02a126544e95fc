// Package mq is the common part of bridges to message queues: the messages in the queue, the
// reports of whoever takes them out, and a worker that runs their tasks.
//
// A queue holds a [Task] for each try. Who takes it out tells in a [Report] that it has
// started, and how it ended, and only then deletes the task. The guarantee rests on this
// order: a task that is not there any more, and has no report, was never there.
package mq
