package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the letters of sizes; each is 1024 times the one before.
const sizeUnits = "KMGTPE"

// ParseSize reads a whole amount: 8, 512M, 4G, 1.5T. K, M, G and so on are powers of 1024 in either case, and
// B or iB may follow them.
func ParseSize(text string) (int64, error) {
	i := span(text, "0123456789.")
	number, suffix := text[:i], text[i:]
	unit, ok := sizeUnit(suffix)
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%s is negative", clip(text))
	case number == "" || !ok:
		return 0, fmt.Errorf("%q is not an amount such as 8, 512M or 4G", clip(text))
	case unit == 1 && strings.Contains(number, "."):
		return 0, fmt.Errorf("%s is not a whole number", clip(text))
	}
	n, value, err := scale(number, unit)
	if err != nil {
		return 0, err
	}
	if value >= math.MaxInt64 {
		return 0, fmt.Errorf("%s is too large", clip(text))
	}
	return n, nil
}

func sizeUnit(suffix string) (unit int64, ok bool) {
	if suffix == "" {
		return 1, true
	}
	i := strings.IndexByte(sizeUnits, suffix[0]&^0x20)
	switch strings.ToLower(suffix[1:]) {
	case "", "b", "ib":
		return 1 << (10 * (i + 1)), i >= 0
	}
	return 0, false
}

// FormatSize writes an amount exactly, with the largest unit that divides it: 4G, 1536M.
func FormatSize(n int64) string {
	i := 0
	for n != 0 && n%1024 == 0 && i < len(sizeUnits) {
		n /= 1024
		i++
	}
	return strconv.FormatInt(n, 10) + strings.TrimSpace((" " + sizeUnits)[i:i+1])
}
