package life

import "slices"

// Among returns the ids that are in a list. If the list is empty, it returns all of them.
func Among(ids, list []int64) []int64 {
	if len(list) == 0 {
		return ids
	}
	in := make(map[int64]bool, len(list))
	for _, id := range list {
		in[id] = true
	}
	return slices.DeleteFunc(ids, func(id int64) bool { return !in[id] })
}
