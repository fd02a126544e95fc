package engine

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
)

// CheckNode returns an error for a name that no node can have. Node names appear in tables, addresses, logs and
// commands, and must not be ambiguous there.
func CheckNode(name string) error {
	switch {
	case name == "":
		return queue.Invalidf("node", "the name of a node is empty")
	case len(name) > queue.MaxName:
		return queue.Invalidf("node", "the name %.20q… of a node is longer than %d bytes", name, queue.MaxName)
	case name == "." || name == "..":
		return queue.Invalidf("node", "%q is not a valid node name", name)
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-@+=:", r) {
			return queue.Invalidf("node", "%.60q is not a valid node name: it contains %q; letters, digits and . _ - @ + = : are allowed", name, r)
		}
	}
	return nil
}

// checkCapacity returns an error for a malformed resource of a node.
func checkCapacity(capacity queue.Amounts) error {
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		kind, handler := strings.CutPrefix(name, queue.HandlerPrefix)
		if handler {
			if err := queue.CheckText("kinds", kind, queue.MaxName); err != nil {
				return err
			}
			continue
		}
		if err := share.CheckResource(name); err != nil {
			return queue.Invalidf("capacity", "%v", err)
		}
	}
	return nil
}

// maxLabels bounds the labels of a node.
const maxLabels = 64

// CheckLabels returns an error if labels of a node are malformed.
func CheckLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return queue.Invalidf("labels", "a node has at most %d labels, got %d", maxLabels, len(labels))
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if err := cluster.CheckLabel(name, labels[name]); err != nil {
			return queue.Invalidf("labels", "%v", err)
		}
	}
	return nil
}
