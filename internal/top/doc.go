// Package top shows a server live on a terminal. It shows the pools with their shares and their usage, the
// queue in the order of starts, the nodes, and the explanations of jobs and pools.
//
// It shows the documents that --json prints, in the words of package words; it computes nothing. It refreshes
// when the server reports an event, and every two seconds to update ages. Refreshes are so rare that a server
// spends at most a tenth of its time on them.
package top
