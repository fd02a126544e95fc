// Package top shows a server live on a terminal: the pools with what they are entitled to
// and had, the queue in the order of starts, the nodes, and why a job or a pool is where it
// is.
//
// What it shows are the documents that --json prints, in the words of package words; it
// computes nothing. It looks again when the server tells of an event, and every two seconds
// for the sake of ages, but never so often that a server spends more than a tenth of its
// time on it.
package top
