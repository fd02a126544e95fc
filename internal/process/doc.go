// Package process runs one task as a process of the operating system and says how it
// ended. A [Runner] starts processes; a [Process] is one of them until its outcome;
// [Logs] is the directory in which their output is kept. What to run, for whom and for
// how long is the caller's business: package agent takes it from the lease.
//
// A task cannot outlive its lease. It has a session and process group of its
// own, which is signalled as a whole. Nothing of the group is left when the first
// process has ended. It dies with us, by the parent-death signal, however we die. It
// gains no rights from set-user-ID programs. It is given the environment and open files
// that the caller names and nothing else of ours.
//
// A process that leaves the session (with setsid) escapes these signals. It still carries the mark
// of the task in its environment. The mark shows it, and it is killed when the task ends, and,
// if we were killed before, by [KillSurvivors], which an agent calls when it starts. Who
// takes care to lose the mark as well is beyond the means of this package.
//
// The work is done on Linux only; elsewhere the package compiles and starts nothing.
package process
