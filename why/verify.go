package why

import "slices"

// Check is one fact that a program, such as package replay, recomputed from the numbers of an answer.
type Check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// Verified reports whether all checks hold.
func Verified(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return !c.OK })
}
