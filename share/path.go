package share

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a pool's path, such as physics/env/julie.
const (
	MaxDepth   = 8
	MaxSegment = 64 // bytes
)

// CheckName returns an error if name cannot be a segment of a path. Tables, URLs and logs show segments, so no
// character may have a special meaning there.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("a pool's name is empty")
	case len(name) > MaxSegment:
		return fmt.Errorf("pool name %.20q… is longer than %d bytes", name, MaxSegment)
	case !utf8.ValidString(name):
		return fmt.Errorf("pool name %q is not valid UTF-8", name)
	case name == "." || name == "..":
		return fmt.Errorf("pool name %q is not allowed", name)
	}
	for _, r := range name {
		if !nameRune(r) {
			return fmt.Errorf("pool name %q holds %q; letters, digits and . _ - @ + = are allowed", name, r)
		}
	}
	return nil
}

func nameRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-@+=", r)
}

// Inside reports whether a path names the pool or a pool below it.
func Inside(path, pool string) bool {
	return path == pool || strings.HasPrefix(path, pool+"/")
}

// CheckResource returns an error if name cannot name a resource, such as mem, or a typed resource, such as
// gpu:a100.
func CheckResource(name string) error {
	base, kind, typed := strings.Cut(name, ":")
	if CheckName(base) != nil || typed && CheckName(kind) != nil {
		return fmt.Errorf("%q is not the name of a resource, such as mem, gpu, or gpu:a100 for GPUs of one type", name)
	}
	return nil
}

// CheckPath returns an error if path cannot name a pool. The root has no path.
func CheckPath(path string) error {
	if strings.HasPrefix(path, "/") && len(path) > 1 {
		return fmt.Errorf("%.80q begins with a slash; leave it out", path)
	}
	segments := strings.Split(path, "/")
	if len(segments) > MaxDepth {
		return fmt.Errorf("pool %.60q is deeper than %d levels", path, MaxDepth)
	}
	for _, s := range segments {
		if err := CheckName(s); err != nil {
			return err
		}
	}
	return nil
}

// Join appends a segment to a path; the root's path is empty.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// Cut splits the last segment off a path.
func Cut(path string) (parent, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}
