package workload

// slots is into how many parts the model divides the day, dawn the slot with which its day
// begins: half hours, from half past five in the morning.
const (
	slots       = 48
	slotSeconds = 86400 / slots
	dawn        = 11
)

// day is the rhythm in which jobs arrive: rate is how many arrive in each half hour since
// midnight, as a multiple of what an even stream would bring; their mean is 1.
type day struct {
	rate   [slots]float64
	before [slots]float64 // the sum of the rates of the earlier half hours
}

// newDay takes the share of each half hour from a gamma distribution over the half hours
// since midnight. It looks at the day's 48 from dawn on: the half hours after the next
// midnight belong to the small hours.
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

// clock is the second since midnight at which an even stream of jobs would be at the
// second even: time passes quickly where few jobs arrive. A whole day takes a whole day.
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
