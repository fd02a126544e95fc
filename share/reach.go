package share

import (
	"slices"
	"strings"
)

// Below returns the path, inside the pool `at`, to which the first suitable rule sends the job. A job that names no
// pool may still go elsewhere, because an earlier rule may match it, too.
func (p *PlacementRules) Below(o Origin, at string) (path string, ok bool) {
	for _, r := range p.rules {
		if r.matches(o) {
			if path := expand(r.parts, o); Inside(path, at) && CheckPath(path) == nil {
				return path, true
			}
		}
	}
	return "", false
}

// Reach reports what the rules could do with some job. The result "makes" says that they can send it to the path
// itself. The result "above" says that they can send it to a pool below the path.
func (p *PlacementRules) Reach(path string) (makes, above bool) {
	if CheckPath(path) != nil {
		return false, false
	}
	names := strings.Split(path, "/")
	for _, r := range p.rules {
		switch segments := r.segments(); {
		case len(names) > len(segments) || !fit(segments, names):
		case len(names) == len(segments):
			makes = true
		default:
			above = true
		}
	}
	return makes, above
}

// Personal reports whether a rule makes the path from a user's name: from the given user's, or from another user's.
func (p *PlacementRules) Personal(path, user string) (own, other bool) {
	if CheckPath(path) != nil {
		return false, false
	}
	names := strings.Split(path, "/")
	for _, r := range p.rules {
		if !slices.ContainsFunc(r.parts, func(x part) bool { return x.field == "user" }) {
			continue
		}
		mine := rule{parts: slices.Clone(r.parts)}
		for i, x := range mine.parts {
			if x.field == "user" {
				mine.parts[i] = part{literal: userName(user)}
			}
		}
		if all := mine.segments(); len(all) == len(names) && fit(all, names) {
			own = true
		} else if all := r.segments(); len(all) == len(names) && fit(all, names) {
			other = true
		}
	}
	return own, other && !own
}

// segment is the pattern of one segment in a template: the literal texts before, between and after the fields.
type segment []string

// segments returns the patterns of the segments in the rule's paths. The value of a field is never empty and
// contains no slash.
func (r rule) segments() []segment {
	all := []segment{{""}}
	for _, p := range r.parts {
		last := len(all) - 1
		if p.field != "" {
			all[last] = append(all[last], "")
			continue
		}
		for i, text := range strings.Split(p.literal, "/") {
			if i > 0 {
				all = append(all, segment{""})
			}
			last = len(all) - 1
			all[last][len(all[last])-1] += text
		}
	}
	return all
}

// fit reports whether the names match the first patterns.
func fit(patterns []segment, names []string) bool {
	for i, name := range names {
		if !patterns[i].fits(name) {
			return false
		}
	}
	return true
}

func (s segment) fits(name string) bool {
	last := len(s) - 1
	if last == 0 {
		return name == s[0]
	}
	rest, ok := strings.CutPrefix(name, s[0])
	for _, text := range s[1:last] {
		if !ok || rest == "" {
			return false
		}
		_, rest, ok = strings.Cut(rest[1:], text)
	}
	return ok && len(rest) > len(s[last]) && strings.HasSuffix(rest, s[last])
}
