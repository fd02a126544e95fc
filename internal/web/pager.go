package web

import "strconv"

// Pager describes the shown part of a list, a screenful at a time.
type Pager struct {
	First, Last, All int
	Before, After    string // addresses of the previous and the next part
}

// pagerOf cuts a list of all rows down to a screenful.
func pagerOf(all, each int, r *Request) Pager {
	from, err := strconv.Atoi(r.Word("from"))
	if err != nil || from < 1 || from > all {
		from = 1
	}
	p := Pager{First: from, Last: min(all, from-1+each), All: all}
	if from > 1 {
		p.Before = r.With("from", strconv.Itoa(max(1, from-each)))
	}
	if p.Last < all {
		p.After = r.With("from", strconv.Itoa(p.Last+1))
	}
	return p
}
