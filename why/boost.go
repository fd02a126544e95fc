package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/share"
)

// weightText says why a child's weight differs from the configured one.
func (c *Child) weightText(now time.Time) string {
	w := c.Base
	var factors, reasons []string
	for _, b := range c.Boosts {
		w *= b.Factor
		factors = append(factors, "x "+Short(b.Factor))
		reasons = append(reasons, b.text(now))
	}
	return fmt.Sprintf("weight of %s: %s = %s %s %s", share.Original(c.Name), Short(w), Short(c.Base),
		strings.Join(factors, " "),
		strings.Join(reasons, "; "))
}

func (b *Boost) text(now time.Time) string {
	text := b.What
	if b.Until != nil {
		text += " until " + instant.Clock(*b.Until, now)
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
