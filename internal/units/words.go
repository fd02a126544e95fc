package units

import (
	"fmt"
	"strconv"
	"time"
)

// Plural counts things: 1 job, 2 jobs.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// OneOf returns the word for one thing, or the word for another number of them.
func OneOf(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Later returns the later of two instants.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Earlier returns the earlier of two instants.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Amount returns an amount of a resource in words: "4 cpu", "16G mem".
func Amount(resource string, n int64) string { return Quantity(resource, n) + " " + resource }

// Quantity returns the amount without the name of the resource: 4, 16G.
func Quantity(resource string, n int64) string {
	if resource == "mem" {
		return FormatSize(n)
	}
	return strconv.FormatInt(n, 10)
}
