// Package process runs a task as a process of the operating system and returns how it ended. A [Runner]
// starts processes; a [Process] is one of them until its outcome; [Logs] is the directory that keeps their
// output. The caller decides what to run, as whom and for how long: package agent takes it from the lease.
//
// A task cannot outlive its lease. It has its own session and process group; signals go to the whole group.
// When the first process has ended, nothing of the group is left. However our process dies, the task dies
// with it, by the parent-death signal. It gains no rights from set-user-ID programs. It gets only the
// environment and the open files that the caller names, and inherits nothing else from us.
//
// A process that leaves the session (with setsid) escapes these signals. But it still carries the mark of
// the task in its environment. By this mark we find the process and kill it when the task ends. If we were
// killed before, [KillSurvivors] kills it; an agent calls that function when it starts. This package cannot
// find a process that removes the mark as well.
//
// The package works on Linux only; elsewhere it compiles and starts nothing.
package process
