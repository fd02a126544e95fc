// Package report shows simulated schedules: as a self-contained page, as a table of figures, and as text for
// the terminal.
//
// Its input consists of schedules (who asked for how many processors when, and when they got them) and of
// the figures that the simulator computed. Most pictures are drawn from the schedules alone, so that a
// schedule from any source can be shown; the charts over time use the series of the simulator.
package report
