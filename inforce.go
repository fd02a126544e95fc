package fairlead

import (
	"encoding/json"
	"fmt"
	"strings"
)

// keptBelow reads the settings below a key prefix, by what follows it in their keys.
func keptBelow[T any](settings map[string]string, prefix string) (map[string]T, error) {
	all := map[string]T{}
	for key, text := range settings {
		name, is := strings.CutPrefix(key, prefix)
		if !is {
			continue
		}
		var v T
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("the setting %s: %w", key, err)
		}
		all[name] = v
	}
	return all, nil
}

// othersRecord reports whether another of the servers that share a store records for all what
// ends by itself. The loop is locked.
func (l *Loop) othersRecord() bool { return l.peers.store != nil && !l.peers.roll.Stops }

// note says whose something is, and why.
func note(by, reason string) string {
	text := ""
	if by != "" {
		text = "by " + by
	}
	if reason != "" {
		text = strings.TrimPrefix(text+": "+reason, ": ")
	}
	return text
}
