package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// plan is a configuration whose changes somebody has seen, to be applied.
type plan struct {
	id    string
	text  string // with its passwords
	basis basis
}

// basis is the state from which a plan was made. The state must be the same when the plan is
// applied.
type basis struct{ force, settings, file string }

// id returns the name of a plan: a hash of the basis and the text.
func (b basis) id(text string) string {
	sum := sha256.New()
	for _, part := range []string{b.force, b.settings, b.file, text} {
		fmt.Fprintf(sum, "%d:%s\n", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

// changed describes the first difference, or returns "".
func (b basis) changed(now basis) string {
	switch {
	case b.settings != now.settings:
		return "settings were changed by config set or unset"
	case b.force != now.force:
		return fmt.Sprintf("another configuration was applied (version %s instead of %s)", now.force, b.force)
	case b.file != now.file:
		return "the server's file was changed"
	}
	return ""
}
