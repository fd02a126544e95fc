// Package allocation is what an administrator decides, and what it makes of a job that is submitted:
// [Config] names the pools, who is entitled to what, and where jobs go; its methods fill in what a job
// leaves open, and refuse a job that does not go with it.
//
// It knows no job but the one that it is given, and no running or waiting tasks: the loop knows these.
// Package config reads a Config from a file.
package allocation
