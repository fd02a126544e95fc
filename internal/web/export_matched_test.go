package web

import "testing"

// SetMaxMatched bounds the jobs of one request during a test.
func SetMaxMatched(t *testing.T, n int) {
	was := maxMatched
	maxMatched = n
	t.Cleanup(func() { maxMatched = was })
}

// SetMaxSorted bounds the jobs that a page sorts during a test.
func SetMaxSorted(t *testing.T, n int) {
	was := maxSorted
	maxSorted = n
	t.Cleanup(func() { maxSorted = was })
}
