package why

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Short writes a number for people: three or four significant digits, or all digits before the point if there
// are more.
func Short(v float64) string {
	switch a := math.Abs(v); {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case a >= 1000 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a < 1:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 100:
		return digits(v, 1)
	case a >= 10:
		return digits(v, 2)
	}
	return digits(v, 3)
}

// ShortPair writes two numbers for comparison, with enough digits to tell them apart.
func ShortPair(x, y float64) (string, string) {
	a, b := Short(x), Short(y)
	for n := 5; a == b && x != y && n <= 17; n++ {
		a, b = strconv.FormatFloat(x, 'g', n, 64), strconv.FormatFloat(y, 'g', n, 64)
	}
	return a, b
}

// rounded reports whether two different numbers are so close that they differ only by the rounding of sums.
func rounded(x, y float64) bool {
	const significant = 11
	return x != y && strconv.FormatFloat(x, 'g', significant, 64) == strconv.FormatFloat(y, 'g', significant, 64)
}

// digits writes at most n digits after the point.
func digits(v float64, n int) string {
	text := strconv.FormatFloat(v, 'f', n, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// amount writes sizes as in a configuration: 4G instead of 4294967296.
func amount(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprint(n/u.size, u.name)
		}
	}
	return fmt.Sprint(n)
}
