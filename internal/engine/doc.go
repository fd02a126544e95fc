// Package engine leads jobs through their lives in this process. The [Client] submits and changes jobs. The [Loop]
// keeps the core up to date with a store, starts tasks by shares, leases them and hands them to workers. Packages above
// it read its [State] to explain, forecast and report.
//
// It uses the types of package queue, the shares of package allocation and the core of package sched. It must not
// import the packages for HTTP, files or processes, because these are above it. The root package offers the part that a
// program with its own jobs needs.
package engine
