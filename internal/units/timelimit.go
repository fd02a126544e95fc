package units

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// UsualLimit rounds the time that a job has down to a time limit as people write it. The limit is in whole hours.
// Below five hours it is in steps of five minutes, of a minute, or of ten seconds. It subtracts a second for the
// time until the job is submitted. Below twenty seconds it returns 0.
func UsualLimit(most time.Duration) time.Duration {
	for _, step := range []time.Duration{time.Hour, 5 * time.Minute, time.Minute, 10 * time.Second} {
		if most >= 5*step || step <= time.Minute && most >= 2*step {
			return (most - time.Second).Truncate(step)
		}
	}
	return 0
}

// ParseTimeLimit reads a time limit like sbatch: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
// days-hours:minutes and days-hours:minutes:seconds. It also reads durations with units, such as 1h30m. A
// number without a unit is in minutes. For 0, unlimited, infinite and none it returns 0: no limit.
func ParseTimeLimit(text string) (time.Duration, error) {
	switch strings.ToLower(text) {
	case "unlimited", "infinite", "none":
		return 0, nil
	case "":
		return 0, errors.New("a time limit such as 90m, 2h or 1-12:00:00 is missing")
	}
	if span(text, "0123456789:-") < len(text) || text[0] == '-' {
		if span(text, "0123456789") == 0 && text[0] != '-' && text[0] != '.' {
			return 0, fmt.Errorf("%q is not a time limit such as 90 (minutes), 1:30:00, 60h or unlimited", clip(text))
		}
		return ParseDuration(text)
	}
	days, clock, hasDays := strings.Cut(text, "-")
	full := []string{days}
	if !hasDays {
		full, clock = []string{"0"}, text
		if strings.Count(text, ":") < 2 { // it begins with minutes
			full = append(full, "0")
		}
	}
	full = append(full, strings.Split(clock, ":")...)
	if len(full) > 4 {
		return 0, fmt.Errorf("%s is not of the form d-h:m:s", clip(text))
	}
	for len(full) < 4 {
		full = append(full, "0")
	}
	return clockSum(text, full)
}
