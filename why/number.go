package why

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a float64 whose JSON form can be infinite: "inf" and "-inf". NaN, which
// no policy should produce, is null. Finite numbers are written so that reading them
// back gives the same number, bit by bit.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsInf(f, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-inf"`), nil
	case math.IsNaN(f):
		return []byte("null"), nil
	default:
		return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"inf"`:
		*n = Number(math.Inf(1))
	case `"-inf"`:
		*n = Number(math.Inf(-1))
	case "null":
		*n = Number(math.NaN())
	default:
		var f float64
		if err := json.Unmarshal(text, &f); err != nil {
			return fmt.Errorf("not a number: %s", text)
		}
		*n = Number(f)
	}
	return nil
}
