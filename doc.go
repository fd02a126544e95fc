// Package fairlead shares machines or workers fairly between users, teams and
// tenants, and says why. It is the door to package internal/engine, which leads the life of a job: how it is
// submitted, leased, renewed and finished, and the loop that lets package sched decide when.
//
// An [App] is all that a program with background jobs needs; it is made of the rest.
//
// A [Client] submits jobs to a [Store], which acknowledges them when they are on
// disk. A [Loop] decides by shares which of them run, leases them, and hands them to
// Go handlers in the same process or to agents on other machines. A [Lease] is the
// right to run one task for a limited time; each is numbered, and a holder that lost
// its lease can change nothing any more.
//
// Delivery is at least once: a task whose holder disappears runs again. Everything
// that a store acknowledged survives a crash of the program at any instant.
package fairlead
