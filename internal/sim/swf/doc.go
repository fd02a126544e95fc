// Package swf reads and writes the Standard Workload Format, in which logs of parallel
// machines are exchanged: a job a line, 18 numbers each, and comments that describe the
// machine (Chapin and others, "Benchmarks and standards for the evaluation of parallel job
// schedulers", 1999). Logs of real machines hold odd lines; [Trace.Jobs] makes jobs of them
// that can be simulated, and its [Report] says what it left out or changed.
package swf
