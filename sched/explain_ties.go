package sched

import "github.com/fairlead/fairlead/why"

// showFixed keeps what orders children of one drift only where that decides: where keys
// and ties are equal, and the younger pool goes first all the same. As children of several
// drifts may be among those, it is their place.
func showFixed(all []why.Child) {
	for from := 0; from < len(all); {
		to, old := from+1, true
		for to < len(all) && all[to].Needy == all[from].Needy && all[to].Key == all[from].Key && all[to].Tie == all[from].Tie {
			old = old && all[to-1].Number < all[to].Number
			to++
		}
		for i := from; i < to; i++ {
			all[i].Fixed = 0
			if !old {
				all[i].Fixed = why.Number(i - from)
			}
		}
		from = to
	}
}
