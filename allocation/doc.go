// Package allocation applies an administrator's decisions to submitted jobs: [Config] names the pools, their
// entitlements, and the placement of jobs. Its methods fill in the fields that a job leaves open, and refuse a job that
// the configuration does not allow.
//
// It sees only the job that it is given, and no other jobs or tasks: package internal/engine knows these. Package
// config reads a Config from a file.
package allocation
