package config

// settle decides when the content of a file that changes is to be read. Editors write
// a file in pieces, or move it away before its successor is there; so content counts
// when it is found twice in a row. What was acted upon already is not acted upon again.
type settle struct {
	acted string // content, or what stands for a file that cannot be read
	seen  string // at the last look, when it differed from acted
	fresh bool   // seen holds something
}

// look takes the present content. It reports whether to act on it, and whether to look
// again soon.
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

// forget has the next content acted upon even if it is the same.
func (s *settle) forget() { *s = settle{} }
