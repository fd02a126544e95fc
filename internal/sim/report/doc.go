// Package report shows simulated schedules: as a page that needs nothing but itself, as a
// table of figures, and as text for the terminal.
//
// What it is given are schedules (who asked for how many processors when, and when they
// got them) and the figures that the simulator computed of them. Pictures are drawn from
// the schedules alone, so that any schedule can be shown, wherever it comes from.
package report
