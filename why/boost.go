package why

import (
	"fmt"
	"strings"
	"time"
)

// weightText says why a child's weight is not the configured one.
func (c *Child) weightText(now time.Time) string {
	w := c.Base
	var factors, reasons []string
	for _, b := range c.Boosts {
		w *= b.Factor
		factors = append(factors, "x "+Short(b.Factor))
		reasons = append(reasons, b.text(now))
	}
	return fmt.Sprintf("weight of %s: %s = %s %s %s", c.Name, Short(w), Short(c.Base), strings.Join(factors, " "), strings.Join(reasons, "; "))
}

func (b *Boost) text(now time.Time) string {
	text := b.What
	if b.Until != nil {
		text += " until " + Clock(*b.Until, now)
	}
	if b.Usage > 0 {
		if b.Until != nil {
			text += " or"
		}
		text += fmt.Sprintf(" until %sh are used (%sh so far)", Short(b.Usage/3600), Short(b.Had/3600))
	}
	if b.Note != "" {
		text += ", " + b.Note
	}
	return text
}

// Until is how far an instant is off: to the second, from ten minutes on to the minute.
func Until(t, now time.Time) string {
	left := t.Sub(now)
	if left >= 10*time.Minute {
		return Duration(left.Round(time.Minute))
	}
	return Duration(left.Round(time.Second))
}

// Clock writes an instant for a person, as short as it is clear now: the day is left out if it is the day of now.
func Clock(t, now time.Time) string {
	const day = time.DateOnly
	if t = t.Local(); t.Format(day) == now.Local().Format(day) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}
