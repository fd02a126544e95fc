package submit

import (
	"strings"

	"github.com/spf13/pflag"
)

// Decimal makes the flags for whole numbers of a set read decimal numbers only. The library reads them as Go does, so
// that 010 would be eight.
func Decimal(f *pflag.FlagSet) {
	f.VisitAll(func(x *pflag.Flag) {
		switch x.Value.Type() {
		case "int", "int64", "uint", "uint64":
			if _, done := x.Value.(decimal); !done {
				x.Value = decimal{x.Value}
			}
		}
	})
}

// decimal is the value of a flag for a whole number.
type decimal struct{ pflag.Value }

// Set reads a decimal number. Other texts lead to the library's error.
func (d decimal) Set(text string) error {
	sign, digits := "", text
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		sign, digits = text[:1], text[1:]
	}
	if strings.Trim(digits, "0123456789") != "" {
		return d.Value.Set("not decimal: " + text)
	}
	if bare := strings.TrimLeft(digits, "0"); bare != "" {
		digits = bare
	} else if digits != "" {
		digits = "0"
	}
	return d.Value.Set(sign + digits)
}
