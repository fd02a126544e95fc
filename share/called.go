package share

import (
	"slices"
	"strings"
	"unicode"
)

// Named lists the paths that a text may mean, that of the plainest reading first: the text itself, or with names of
// users in it as they are, such as guests/a b for guests/a=20b. The name of a user may hold slashes, so the end of the
// text may be one name. In quotes it is one name wherever it stands, as [Original] writes it.
func Named(text string) []string {
	var paths []string
	add := func(head []string, name string) {
		path := strings.Join(append(slices.Clip(head), name), "/")
		if CheckPath(path) == nil && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	parts := split(text)
	for n := len(parts) - 1; n >= 0; n-- {
		name := strings.Join(parts[n:], "/")
		head := make([]string, n)
		for i, part := range parts[:n] {
			head[i] = written(part)
		}
		if name != "" {
			add(head, written(name))
			add(head, UserPool(name))
		}
	}
	return paths
}

// Reading is the path that a text means if no name in it is one of another reading, "" if there is none: each segment
// is a name of its own, as it is or in quotes.
func Reading(text string) string {
	parts := split(text)
	if last := parts[len(parts)-1]; strings.Contains(last, "/") && !strings.HasSuffix(last, `"`) {
		return ""
	}
	for i, part := range parts {
		parts[i] = written(part)
	}
	if path := strings.Join(parts, "/"); CheckPath(path) == nil {
		return path
	}
	return ""
}

// split returns the segments of a text. The last has all slashes that are left over.
func split(text string) (parts []string) {
	for len(parts) < MaxDepth-1 {
		end := strings.IndexByte(text, '/')
		if strings.HasPrefix(text, `"`) {
			if end = strings.Index(text[1:], `"/`); end >= 0 {
				end += 2
			}
		}
		if end < 0 {
			break
		}
		parts, text = append(parts, text[:end]), text[end+1:]
	}
	return append(parts, text)
}

// written is a name as a path holds it. A name that can be a segment stays as it is.
func written(name string) string {
	switch n := len(name); {
	case n > 2 && name[0] == '"' && name[n-1] == '"':
		return UserPool(name[1 : n-1])
	case name == "" || CheckName(name) == nil:
		return name
	}
	return UserPool(name)
}

// Original is a path for people, with the names of users in it as they are: guests/a b for guests/a=20b. A name that
// could be read as something else is quoted, such as "a/b", which is no pool below a. One that could not be
// seen stays escaped. [Named] finds the path of such a text.
func Original(path string) string {
	if !strings.Contains(path, "=") {
		return path
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = originalName(s)
	}
	return strings.Join(segments, "/")
}

// originalName is the name of the user for whom a segment stands, if it is escaped.
func originalName(segment string) string {
	user, known := UserOf(segment)
	switch {
	case !known || user == segment || strings.TrimSpace(user) != user || strings.ContainsFunc(user, unseen):
		return segment
	case strings.Contains(user, "/") || user == "." || user == ".." || CheckName(user) == nil:
		return `"` + user + `"`
	}
	return user
}

// unseen reports whether a reader cannot tell a rune of a name, or would take it for a quote of ours. The rune that
// stands for bytes that are no UTF-8 is among them.
func unseen(r rune) bool {
	return !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == '"'
}
