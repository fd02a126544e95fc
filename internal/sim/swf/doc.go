// Package swf reads and writes the Standard Workload Format, the exchange format for logs of parallel
// machines. It has one job per line with 18 numbers, and comments that describe the machine. (Chapin and
// others, "Benchmarks and standards for the evaluation of parallel job schedulers", 1999.) Logs of real
// machines hold odd lines. [Trace.Jobs] turns a log into jobs that can be simulated, and its [Report]
// lists the lines that it omitted or changed.
package swf
