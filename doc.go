// Package fairlead shares machines or workers fairly between users, teams and tenants, and explains its decisions. It
// is the public interface of package internal/engine, which submits, leases, renews and finishes jobs, and asks package
// sched when to start them.
//
// A program with background jobs needs only an [App]; the other types are its parts.
//
// A [Client] submits jobs to a [Store], which acknowledges them when they are on disk. A [Loop] decides by shares which
// of them run, leases them, and hands them to Go handlers in the same process or to agents on other machines. A [Lease]
// is the right to run one task for a limited time. Leases are numbered, so that a holder that has lost its lease can no
// longer change anything.
//
// Delivery is at least once: a task whose holder disappears runs again. Everything that a store acknowledged survives a
// crash of the program at any instant.
package fairlead
