// Package mq is what bridges to message queues share: the messages that are in the queue, what
// was heard from whoever takes them out, and a worker that runs what they ask for.
//
// A queue holds a [Task] for each try. Who takes it out tells in a [Report] that it has
// started, and how it ended, and only then deletes the task. The order is what the guarantee
// rests on: a task that is not there any more, and of which there is no report, was never there.
package mq
