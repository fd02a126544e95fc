package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Setting is a value that somebody set at one place of the file while the server runs.
type Setting struct {
	Path  string `json:"path"`  // e.g. pools.physics/env.weight
	Value string `json:"value"` // in the syntax of the file; "" removes the field
}

// SplitSetting splits PATH=VALUE.
func SplitSetting(text string) (Setting, error) {
	quoted := false
	for i, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case r == '=' && !quoted:
			path, err := CleanPath(strings.TrimSpace(text[:i]))
			return Setting{path, strings.TrimSpace(text[i+1:])}, err
		}
	}
	return Setting{}, fmt.Errorf("expected PATH=VALUE, such as pools.physics.weight=3, got %s", clip(text))
}

// CleanPath checks a path and returns its canonical form.
func CleanPath(path string) (string, error) {
	parts, err := splitPath(path)
	return joinPath(parts), err
}

// splitPath splits a path into names. Names with a dot or = are quoted; nested pools may be separated by slashes.
func splitPath(path string) ([]string, error) {
	var parts []string
	for rest := path; ; {
		part, more := "", false
		if inner, ok := strings.CutPrefix(rest, `"`); ok {
			if part, rest, ok = strings.Cut(inner, `"`); !ok {
				return nil, fmt.Errorf("the path %s has a quote that is not closed", clip(path))
			}
			if rest, more = strings.CutPrefix(rest, "."); rest != "" && !more {
				return nil, fmt.Errorf("expected a dot after the quote in the path %s", clip(path))
			}
		} else {
			part, rest, more = strings.Cut(rest, ".")
		}
		if part == "" {
			return nil, fmt.Errorf("the path %s lacks a name; expected one such as pools.physics.weight", clip(path))
		}
		if n := len(parts); n > 0 && parts[n-1] == "pools" {
			part = strings.ReplaceAll(part, "/", "/pools/")
			parts = append(parts, strings.Split(part, "/")...)
		} else {
			parts = append(parts, part)
		}
		if len(parts) > maxDepth {
			return nil, fmt.Errorf("the path %s is too long", clip(path))
		}
		if !more {
			return parts, nil
		}
	}
}

func joinPath(parts []string) string {
	var b strings.Builder
	for i := 0; i < len(parts); i++ {
		if i > 0 {
			b.WriteByte('.')
		}
		name := parts[i]
		for i > 0 && parts[i-1] == "pools" && i+2 < len(parts) && parts[i+1] == "pools" {
			name += "/" + parts[i+2]
			i += 2
			parts = slices.Replace(slices.Clone(parts), i-1, i, "pools") // the next names are below pools, too
		}
		if strings.ContainsAny(name, `.= `) {
			name = `"` + name + `"`
		}
		b.WriteString(name)
	}
	return b.String()
}

// With returns the configuration with settings applied over the file, later ones over earlier ones, and checks the
// result like a file. If create is true, settings may add pools that the file lacks.
func (c *Config) With(settings []Setting, create bool) (*Config, error) {
	root, problem := readYAML(c.text)
	if problem != nil {
		return nil, Problems{*problem}.finish(c.name, c.text)
	}
	var wrong Problems
	for _, s := range settings {
		if msg := overlay(root, s, create); msg != "" {
			wrong = append(wrong, Problem{Setting: s.text(), Msg: msg})
		}
	}
	if len(wrong) > 0 {
		return nil, wrong.finish(c.name, c.text)
	}
	return read(c.name, c.text, root)
}

// text returns PATH=VALUE for messages, shortened and without passwords.
func (s Setting) text() string {
	value := Hide(s.Value)
	if len(value) > 60 {
		value = value[:50] + "…"
	}
	return s.Path + "=" + strings.ReplaceAll(value, "\n", " ")
}

// overlay applies a setting to a tree of nodes. It returns the reason if the setting is wrong.
func overlay(root *node, s Setting, create bool) (wrong string) {
	parts, err := splitPath(s.Path)
	if err != nil {
		return err.Error()
	}
	if first := parts[0]; first == "server" || first == "unit" {
		return first + " takes effect when the server starts; change it in the file"
	}
	value, wrong := s.node()
	if wrong != "" {
		return wrong
	}
	n := root
	for i, part := range parts {
		last := i == len(parts)-1
		switch n.kind {
		case nothing:
			n.kind, n.from = mapping, s.text()
		case scalar:
			return fmt.Sprintf("%s is a single value; it has no fields", joinPath(parts[:i]))
		case list:
			return fmt.Sprintf("%s is a list; set it as a whole, or one of its items by its number, such as %[1]s.1",
				joinPath(parts[:i]))
		}
		k := n.find(part)
		switch {
		case k < 0 && i > 0 && parts[i-1] == "pools" && !create:
			return unknown("pool", part, keysOf(n)) + "; to add it, use --new or change the file"
		case last && value.kind == nothing && k >= 0:
			n.keys, n.items = slices.Delete(n.keys, k, k+1), slices.Delete(n.items, k, k+1)
			return ""
		case last && value.kind == nothing:
			return ""
		case last && k >= 0:
			n.items[k] = value
			return ""
		case last:
			n.keys, n.items = append(n.keys, &node{kind: scalar, text: part, from: s.text()}), append(n.items, value)
			return ""
		case k < 0:
			n.keys, n.items = append(n.keys, &node{kind: scalar, text: part, from: s.text()}), append(n.items,
				&node{from: s.text()})
			k = len(n.items) - 1
		}
		n = n.items[k]
	}
	return ""
}

func keysOf(n *node) []string {
	names := make([]string, len(n.keys))
	for i, k := range n.keys {
		names[i] = k.text
	}
	slices.Sort(names)
	return names
}

// node parses the value.
func (s Setting) node() (n *node, wrong string) {
	clean, problem := prepare([]byte(s.Value))
	if problem == nil {
		n, problem = readYAML(clean)
	}
	if problem != nil {
		return nil, "the value cannot be read: " + problem.Msg
	}
	n.mark(s.text())
	return n, ""
}

// mark replaces all places in n by the setting that the value comes from.
func (n *node) mark(from string) {
	n.place, n.from = place{}, from
	for _, k := range n.keys {
		k.place, k.from = place{}, from
	}
	for _, item := range n.items {
		item.mark(from)
	}
}

// Item turns a setting of one item of a list, named by its number from 1, into a setting of the whole changed list.
// This is necessary because items have no names, and the list in the file may change. The number after the last adds an
// item. Item returns other settings unchanged.
func (c *Config) Item(s Setting) (Setting, error) {
	parts, err := splitPath(s.Path)
	if err != nil {
		return s, err
	}
	last := len(parts) - 1
	number, err := strconv.Atoi(parts[last])
	if err != nil || last == 0 {
		return s, nil
	}
	above := c.find(parts[:last])
	if above == nil && slices.Equal(parts[:last], []string{"placement"}) {
		above = &node{kind: list} // without rules, the first item is the number after the last
	}
	if above == nil || above.kind != list {
		return s, nil
	}
	value, wrong := s.node()
	switch {
	case wrong != "":
		return s, fmt.Errorf("%s", wrong)
	case number < 1 || number > len(above.items)+1:
		return s, fmt.Errorf("%s has %d items; the number must be from 1 to %d", joinPath(parts[:last]), len(above.items),
			len(above.items)+1)
	}
	all := slices.Clone(above.items)
	switch {
	case value.kind == nothing && number <= len(all):
		all = slices.Delete(all, number-1, number)
	case number <= len(all):
		all[number-1] = value
	default:
		all = append(all, value)
	}
	return Setting{joinPath(parts[:last]), flat(&node{kind: list, items: all})}, nil
}

// Value returns the effective value at a path, in the syntax of the file: the given value or, without one, the default.
// It returns "" if there is neither.
func (c *Config) Value(path string) (string, error) {
	parts, err := splitPath(path)
	if err != nil {
		return "", err
	}
	if n := c.find(parts); n != nil {
		return flat(n), nil
	}
	if !known(parts) {
		return "", fmt.Errorf("there is no setting %s; see docs/reference/config.md, or fairlead config show", path)
	}
	return "", nil
}

// find looks up a path in the given file, then in the canonical form.
func (c *Config) find(parts []string) *node {
	for _, n := range []*node{c.root, fileTable.show(c)} {
		for _, part := range parts {
			if n == nil {
				break
			}
			if n.kind == list {
				i, err := strconv.Atoi(part)
				if err != nil || i < 1 || i > len(n.items) {
					n = nil
					break
				}
				n = n.items[i-1]
				continue
			}
			n = n.get(part)
		}
		if n != nil && n.kind != nothing {
			return n
		}
	}
	return nil
}

// known reports whether the file has a field with the first name of a path. If the path ends with a field of a pool, it
// checks that name as well.
func known(parts []string) bool {
	if !slices.Contains(fileTable.names(), parts[0]) {
		return false
	}
	if n := len(parts); n > 2 && parts[n-3] == "pools" {
		return slices.Contains(poolTable.names(), parts[n-1])
	}
	return true
}

// JoinPath joins names to a path.
func JoinPath(names ...string) string { return joinPath(names) }

// Given reports whether the file or a setting has a value at this place.
func (c *Config) Given(names ...string) bool {
	n := c.root
	for _, name := range names {
		n = n.get(name)
	}
	return n != nil
}
