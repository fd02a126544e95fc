package web

import "testing"

// SetMaxMatched bounds the jobs of one request during a test.
func SetMaxMatched(t *testing.T, n int) {
	was := maxMatched
	maxMatched = n
	t.Cleanup(func() { maxMatched = was })
}
