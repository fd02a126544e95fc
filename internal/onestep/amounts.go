package onestep

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/share"
)

// maxAmount is the largest amount of a resource, as in configurations and jobs.
const maxAmount = 1 << 50

// Amounts maps names of resources to amounts. They are read as in configurations: whole numbers, or texts
// such as "8G".
type Amounts map[string]int64

// UnmarshalJSON reads an object of numbers and texts.
func (a *Amounts) UnmarshalJSON(text []byte) error {
	var read map[string]json.RawMessage
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*a = nil
	for _, name := range slices.Sorted(maps.Keys(read)) {
		n, err := readAmount(read[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if *a == nil {
			*a = Amounts{}
		}
		(*a)[name] = n
	}
	return nil
}

func readAmount(value json.RawMessage) (int64, error) {
	text := string(value)
	if value[0] == '"' {
		if err := json.Unmarshal(value, &text); err != nil {
			return 0, err
		}
	}
	n, err := units.ParseSize(text)
	if err == nil && n > maxAmount {
		err = fmt.Errorf("must be from 0 to %d, got %.40s", int64(maxAmount), text)
	}
	return n, err
}

// check refuses malformed names.
func (a Amounts) check() error {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if err := share.CheckName(name); err != nil {
			return err
		}
	}
	return nil
}
