package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// plan is a configuration that somebody looked at before it is put into force.
type plan struct {
	id    string
	text  string // with its passwords
	basis basis
}

// basis is all that a plan was made from, and must be the same when it is put into force.
type basis struct{ force, settings, file string }

// id is the name of a plan: that of everything in it.
func (b basis) id(text string) string {
	sum := sha256.New()
	for _, part := range []string{b.force, b.settings, b.file, text} {
		fmt.Fprintf(sum, "%d:%s\n", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

// changed names the differences, or is "".
func (b basis) changed(now basis) string {
	switch {
	case b.settings != now.settings:
		return "settings were changed by config set or unset"
	case b.force != now.force:
		return fmt.Sprintf("another configuration is in force (version %s, then %s)", now.force, b.force)
	case b.file != now.file:
		return "the server's file was changed"
	}
	return ""
}
