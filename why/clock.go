package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/instant"
)

// Until writes the time left until t: to the second, or to the minute from ten minutes on.
func Until(t, now time.Time) string {
	left := t.Sub(now)
	if left >= 10*time.Minute {
		return Duration(left.Round(time.Minute))
	}
	return Duration(left.Round(time.Second))
}

// byClocks applies [instant.ByClock] to each line separately.
func byClocks(text string, now time.Time) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(instant.ByClock(line, now))
	}
	return b.String()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Duration writes a time span for a person: two units at most.
func Duration(d time.Duration) string {
	d = max(0, d)
	day := 24 * time.Hour
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return two(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return two(d, time.Hour, "h", time.Minute, "m")
	}
	return two(d, day, "d", time.Hour, "h")
}

func two(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	text := fmt.Sprint(int(d/big), bigName)
	if rest := int(d % big / small); rest > 0 {
		text += fmt.Sprint(rest, smallName)
	}
	return text
}
