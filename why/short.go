package why

import (
	"math"
	"strconv"
)

// Short writes a number for a person: four significant digits, or what comes before
// the point if that is longer.
func Short(v float64) string {
	switch a := math.Abs(v); {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case a >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a == 0:
		return "0"
	case a < 1e-3:
		return strconv.FormatFloat(v, 'g', 3, 64)
	default:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}
