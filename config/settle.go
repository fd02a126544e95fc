package config

// settle decides when to read a file that changes. Editors write a file in pieces, or move it away before its successor
// exists, so content counts only if settle finds it twice in a row. It acts on the same content only once.
type settle struct {
	acted string // content, or the error of a file that cannot be read
	seen  string // content at the last look, if it differed from acted
	fresh bool   // seen is set
}

// look takes the present content. It reports whether to act on it, and whether to look again soon.
func (s *settle) look(found string) (act, again bool) {
	switch {
	case found == s.acted:
		s.fresh = false
		return false, false
	case s.fresh && found == s.seen:
		s.acted, s.fresh = found, false
		return true, false
	}
	s.seen, s.fresh = found, true
	return false, true
}

// forget makes the next content count even if it is the same.
func (s *settle) forget() { *s = settle{} }
