package share

import (
	"slices"
	"strings"
	"unicode"
)

// Named lists the paths that a text may mean, the most literal one first: the text itself, or the text with its
// user names escaped. For example, guests/a b means guests/a=20b. A user name may contain slashes, so the end of
// the text may be one name. A part in quotes, as [Original] writes it, is always one name.
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

// Reading returns the most literal path that a text may mean: each segment is one name, plain or in quotes. It
// returns "" if there is no such path.
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

// split returns the segments of a text. The last segment contains all remaining slashes.
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

// written converts a name to a path segment. A name that is a valid segment stays unchanged.
func written(name string) string {
	switch n := len(name); {
	case n > 2 && name[0] == '"' && name[n-1] == '"':
		return UserPool(name[1 : n-1])
	case name == "" || CheckName(name) == nil:
		return name
	}
	return UserPool(name)
}

// Original writes a path for people, with user names unescaped: guests/a b for guests/a=20b. It quotes a name that
// could be misread, such as "a/b", which is not a pool below a. A name with invisible characters stays escaped.
// [Named] converts such a text back to a path.
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

// originalName returns the name of the user whose pool the segment names, if the segment is escaped.
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

// unseen reports whether a reader cannot recognize the rune or would take it for a closing quote. The replacement
// rune, which stands for invalid UTF-8, counts as unseen.
func unseen(r rune) bool {
	return !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == '"'
}
