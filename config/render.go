package config

import (
	"regexp"
	"strconv"
	"strings"
)

// YAML returns the effective configuration in canonical form, with defaults filled in: equal settings give equal bytes.
// [Parse] reads it back.
func (c *Config) YAML() []byte {
	var b strings.Builder
	block(&b, fileTable.show(c), 0)
	return []byte(b.String())
}

// width is the longest line, in bytes, for a mapping on the line of its name.
const width = 80

// block writes a mapping with one name a line.
func block(b *strings.Builder, n *node, indent int) {
	margin := strings.Repeat(" ", indent)
	for i, key := range n.keys {
		value := n.items[i]
		head := margin + flat(key) + ":"
		switch {
		case value.kind == list && len(value.items) > 0 && value.height() > 1:
			b.WriteString(head + "\n")
			for _, item := range value.items {
				b.WriteString(margin + "  - " + flat(item) + "\n")
			}
		case value.kind == mapping && !fits(value, indent, len(head)):
			b.WriteString(head + "\n")
			block(b, value, indent+2)
		default:
			b.WriteString(head + " " + flat(value) + "\n")
		}
	}
}

// fits reports whether a mapping goes on the line of its name.
func fits(n *node, indent, used int) bool {
	deepest := 1
	if indent > 0 {
		deepest = 2
	}
	return len(n.keys) == 0 || n.height() <= deepest && used+1+len(flat(n)) <= width
}

// height returns how deep values are nested in n. Above 2 it may be too low.
func (n *node) height() int {
	if n.kind != mapping && n.kind != list {
		return 0
	}
	most := 0
	for _, item := range n.items {
		if most = max(most, item.height()); most > 1 {
			break
		}
	}
	return most + 1
}

// flat writes a value on one line.
func flat(n *node) string {
	var parts []string
	switch n.kind {
	case list:
		for _, item := range n.items {
			parts = append(parts, flat(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapping:
		for i, key := range n.keys {
			parts = append(parts, flat(key)+": "+flat(n.items[i]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if n.quoted && !plainEverywhere(n.text) {
		return strconv.Quote(n.text)
	}
	return n.text
}

var plainWord = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./@+=-]*$`)

// plainEverywhere reports whether all readers of YAML, including older versions, take the text for a text without
// quotes.
func plainEverywhere(text string) bool {
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	return plainWord.MatchString(text)
}
