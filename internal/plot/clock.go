package plot

import "time"

// clockTicks are instants at which the clock of the zone shows round times.
func (a Axis) clockTicks(from, to float64, n int) []float64 {
	_, offset := a.instant(from).Zone()
	ticks := linearTicks(from+float64(offset), to+float64(offset), n, Clock)
	for i := range ticks {
		ticks[i] -= float64(offset)
	}
	return ticks
}

func (a Axis) instant(v float64) time.Time {
	zone := a.Zone
	if zone == nil {
		zone = time.UTC
	}
	return time.Unix(int64(v), 0).In(zone)
}

// label writes the value at a tick.
func (a Axis) label(v float64) string {
	if a.Unit != Clock {
		return label(v, a.Unit)
	}
	t := a.instant(v)
	switch h, m, s := t.Clock(); {
	case a.To-a.From > 300*day:
		return t.Format("Jan 2006")
	case h == 0 && m == 0 && s == 0:
		return t.Format("2 Jan")
	case s != 0:
		return t.Format("15:04:05")
	}
	return t.Format("15:04")
}
