package usage

import "math"

// Day is the length of a day, in seconds. Days begin at midnight UTC.
const Day = 86400

// Days counts the service of each of the last days separately, today included, so that each day can count less than
// the day after it (a decay factor by days). Times are in seconds since 1970, amounts in slot-seconds; nothing
// decays within a day.
//
// Example: 4 slots, factor 0.7. A day ago one task had all four slots for 24 hours: 345,600 slot-seconds, which
// count 0.7 x 345,600 = 241,920 today, and 169,344 tomorrow.
type Days struct {
	factor  float64
	newest  int64     // number of the newest day
	amounts []float64 // of the newest day, the day before, ...
	past    float64   // weighted sum of the days before the newest
	width   float64   // of the running tasks
	at      float64   // the service of the running tasks is counted up to this time
}

// Diaries are the services by days of many holders, each with a number from 1. The number in place of a pointer keeps
// the holders free of pointers.
type Diaries []*Days

// Of returns the service by days with a number, nil for 0.
func (d Diaries) Of(number int32) *Days {
	if number == 0 {
		return nil
	}
	return d[number-1]
}

// NewDays counts n days, beginning at t.
func NewDays(n int, factor, t float64) *Days {
	return &Days{factor: factor, newest: dayOf(t), amounts: make([]float64, n), at: t}
}

func dayOf(t float64) int64 { return int64(math.Floor(t / Day)) }

// NextDay is the next midnight after t.
func NextDay(t float64) float64 { return float64(dayOf(t)+1) * Day }

// Advance counts the running tasks up to t, and drops days that are then too old.
func (d *Days) Advance(t float64) {
	for dayOf(t) > d.newest {
		midnight := float64(d.newest+1) * Day
		d.receive(midnight)
		copy(d.amounts[1:], d.amounts)
		d.amounts[0] = 0
		d.newest++
		d.weigh()
	}
	d.receive(t)
}

func (d *Days) receive(t float64) {
	if t > d.at {
		d.amounts[0] += d.width * (t - d.at)
		d.at = t
	}
}

func (d *Days) weigh() {
	d.past = 0
	for k := len(d.amounts) - 1; k >= 1; k-- {
		d.past = d.factor * (d.past + d.amounts[k])
	}
}

// Run adds running tasks with a total width in slots, or removes them if width is negative.
func (d *Days) Run(width, t float64) {
	d.Advance(t)
	d.width += width
	if math.Abs(d.width) < 1e-9 {
		d.width = 0
	}
}

// Add counts an amount received evenly over [from, to); to must not be after the last call of Advance.
func (d *Days) Add(amount, from, to float64) {
	if to <= from {
		d.add(amount, dayOf(to))
		return
	}
	for from < to {
		end := math.Min(to, NextDay(from))
		d.add(amount*(end-from)/(to-from), dayOf(from))
		amount -= amount * (end - from) / (to - from)
		from = end
	}
}

func (d *Days) add(amount float64, day int64) {
	if k := d.newest - day; k >= 0 && k < int64(len(d.amounts)) {
		d.amounts[k] += amount
		d.weigh()
	}
}

// Sum is the weighted sum of all days at t, which must lie in the newest day: amount(today) + factor x
// amount(yesterday) + factor^2 x ...
func (d *Days) Sum(t float64) float64 {
	return d.past + d.amounts[0] + d.width*(t-d.at)
}

// Parts returns the numbers that Sum adds up: the weighted sum of the days before today, today up to the last
// count, and the slots and seconds since then.
func (d *Days) Parts(t float64) (past, today, slots, seconds float64) {
	return d.past, d.amounts[0], d.width, t - d.at
}

// Merge adds the service of another pool on the same days, and its running tasks, up to t.
func (d *Days) Merge(o *Days, t float64) {
	d.Advance(t)
	o.Advance(t)
	for k := range d.amounts {
		d.amounts[k] += o.amounts[k]
	}
	d.width += o.width
	d.weigh()
}

// Clear forgets all service.
func (d *Days) Clear() {
	clear(d.amounts)
	d.past = 0
}

// Clone returns an independent copy.
func (d *Days) Clone() *Days {
	c := *d
	c.amounts = append([]float64(nil), d.amounts...)
	return &c
}

// Counts reports whether d counts n days by the given factor.
func (d *Days) Counts(n int, factor float64) bool { return len(d.amounts) == n && d.factor == factor }
