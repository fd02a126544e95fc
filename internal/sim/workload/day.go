package workload

// slots is the number of parts into which the model divides the day. The model's day begins with the slot
// dawn, at half past five in the morning; a slot is half an hour.
const (
	slots       = 48
	slotSeconds = 86400 / slots
	dawn        = 11
)

// day is the rhythm in which jobs arrive. The field rate holds the arrivals in each half hour since midnight,
// as a multiple of an even stream. The mean of the rates is 1.
type day struct {
	rate   [slots]float64
	before [slots]float64 // the sum of the rates of the earlier half hours
}

// newDay takes the share of each half hour from a gamma distribution over the half hours since midnight. It
// reads 48 half hours from dawn on: the half hours after the next midnight become the small hours of the day.
func newDay(g gamma) *day {
	d := &day{}
	sum := 0.0
	for i := dawn; i < dawn+slots; i++ {
		share := g.below(float64(i)+0.5) - g.below(float64(i)-0.5)
		d.rate[(i-1)%slots] = share
		sum += share
	}
	before := 0.0
	for i := range d.rate {
		d.rate[i] *= slots / sum
		d.before[i] = before
		before += d.rate[i]
	}
	return d
}

// clock returns the second since midnight at which an even stream of jobs would be at the second "even": time passes
// quickly where few jobs arrive. Whole days are unchanged.
func (d *day) clock(even float64) float64 {
	const whole = float64(slots * slotSeconds)
	days := float64(int64(even / whole))
	rest := (even - days*whole) / slotSeconds
	i := slots - 1
	for i > 0 && d.before[i] > rest {
		i--
	}
	within := min((rest-d.before[i])/d.rate[i], 1)
	return days*whole + (float64(i)+within)*slotSeconds
}
