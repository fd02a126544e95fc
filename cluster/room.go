package cluster

// room reports whether a task with the key, or a whole gang, fits somewhere now.
func (f *fleet) room(req *request) bool {
	if req.gang > 0 {
		return f.roomForGang(req)
	}
	if len(f.nodes) == 1 {
		return f.fits(0, req)
	}
	if len(f.nodes) > 0 && f.fits(req.last, req) {
		return true
	}
	_, ok := f.place(req)
	return ok
}

// placeOn is place restricted to nodes for which the function ok returns true.
func (f *fleet) placeOn(req *request, ok func(NodeID) bool) (NodeID, bool) {
	if len(f.nodes) == 1 {
		return 0, f.fits(0, req) && ok(0)
	}
	if !f.room(req) {
		return 0, false
	}
	f.refresh(req)
	if !f.groups.made {
		f.makeGroups()
	}
	var best candidate
	for _, k := range req.suits {
		for _, g := range f.classes.all[k.class].groups {
			x := &f.groups.all[g]
			if !x.free.Covers(req.need) {
				continue
			}
			for _, id := range x.ids {
				if at := (candidate{true, k.extra, x.free.at(req.scarce), id}); at.before(&best) && ok(id) {
					best = at
				}
			}
		}
	}
	return best.id, best.found
}
