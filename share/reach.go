package share

import (
	"slices"
	"strings"
)

// Below returns where a rule sends a job at or below a path, by the first rule that takes the job and
// leads there. The job need not go there if it names no pool: a rule above may take it, too.
func (p *Placement) Below(o Origin, at string) (path string, ok bool) {
	for _, r := range p.rules {
		if r.matches(o) {
			if path := expand(r.parts, o); Inside(path, at) && CheckPath(path) == nil {
				return path, true
			}
		}
	}
	return "", false
}

// Reach reports what rules could do with a path for some job, whichever that is: send it there, and send it
// to a pool below.
func (p *Placement) Reach(path string) (makes, above bool) {
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

// Personal reports whose a path is, if a rule makes it of the name of a user: that user's, or another one's.
func (p *Placement) Personal(path, user string) (own, other bool) {
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

// segment is the pattern of a name in a template: the texts before, between and after its fields.
type segment []string

// segments are the patterns of the names in a path that a rule makes. The value of a field is never
// empty, and holds no slash.
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

// fit reports whether names are of the patterns, as far as there are names.
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
