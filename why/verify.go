package why

import "slices"

// Check is one thing that a program recomputed from the numbers of an answer, such as package replay does.
type Check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// Verified reports whether all checks hold.
func Verified(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return !c.OK })
}
