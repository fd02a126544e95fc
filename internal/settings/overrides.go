package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/config"
)

// entry is a setting with the user who made it.
type entry struct {
	config.Setting
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// overrides are the settings over the file, in the order in which they were made.
type overrides []entry

// loadSettings reads the settings over the file.
func loadSettings(kept map[string]string) (over overrides, err error) {
	if text := kept[setting]; text != "" {
		if err := json.Unmarshal([]byte(text), &over); err != nil {
			return nil, fmt.Errorf("the stored settings cannot be read: %w", err)
		}
	}
	return over, nil
}

// plain returns the settings without their users.
func (o overrides) plain() []config.Setting {
	all := make([]config.Setting, len(o))
	for i := range o {
		all[i] = o[i].Setting
	}
	return all
}

// has reports whether there is a setting at a path.
func (o overrides) has(path string) bool {
	return slices.ContainsFunc(o, func(e entry) bool { return e.Path == path })
}

// names returns the paths, for people.
func (o overrides) names() string {
	var names []string
	for _, e := range o {
		names = append(names, e.Path)
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// made reports whether the only problem is that the file lacks pools that these settings name.
func (o overrides) made(err error) bool {
	var problems config.Problems
	if !errors.As(err, &problems) {
		return false
	}
	for _, p := range problems {
		if !slices.ContainsFunc(o, func(e entry) bool { return strings.HasPrefix(p.Setting, e.Path+"=") }) {
			return false
		}
	}
	return true
}

// with adds a setting. It removes settings at its path and below, which no longer have an effect.
func (o overrides) with(e entry) overrides {
	o = slices.DeleteFunc(o, func(old entry) bool { return old.Path == e.Path || strings.HasPrefix(old.Path, e.Path+".") })
	return append(o, e)
}
