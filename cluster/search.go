package cluster

// Of the nodes on which a task fits now, the best is the one that
//
//  1. has the fewest resources that the task does not ask for: GPUs are saved for tasks that want them, and
//     GPUs of a type for tasks that want this type;
//  2. is left with the least of the scarce resource, the resource that the task takes the largest part of:
//     small gaps are filled first, so that large gaps stay for large tasks;
//  3. joined first.
//
// If a key fits on no node, its request records that, with a position in the log of the nodes that became freer.
// Only on nodes after that position can the key fit now, so a search visits only these.

// place returns the best node on which a task with the key fits now.
func (f *fleet) place(req *request) (NodeID, bool) {
	if len(f.nodes) == 1 {
		return 0, f.fits(0, req)
	}
	f.refresh(req)
	if recent, known := f.given.since(req.failed); known && len(recent) <= maxRecent {
		best := f.searchRecent(req, recent, &req.failed, false)
		if best.found {
			req.last = best.id
		}
		return best.id, best.found
	}
	best := f.search(req, false)
	if !best.found {
		req.failed = f.given.end()
		return 0, false
	}
	req.failed, req.last = -1, best.id
	return best.id, true
}

// searchRecent searches the nodes that became freer since the key had room on no node. If the flag besides is
// set, it skips nodes with kept room. It moves failed past the leading nodes on which the key does not fit,
// because these need not be searched again.
func (f *fleet) searchRecent(req *request, recent []NodeID, failed *int, besides bool) (best candidate) {
	for _, id := range recent {
		if f.fits(id, req) && !(besides && f.isKept(id)) {
			best.consider(f.candidate(id, req))
		} else if !best.found {
			*failed++
		}
	}
	return best
}

// maxRecent is the largest number of nodes that are searched one by one.
const maxRecent = 64

// candidate is a node on which a task fits, with the numbers that compare it.
type candidate struct {
	found bool
	extra int32
	free  int64 // of the scarce resource
	id    NodeID
}

// candidate returns a node that suits a key, as a candidate.
func (f *fleet) candidate(id NodeID, req *request) candidate {
	n := &f.nodes[id]
	return candidate{true, f.classes.all[n.class].extra(req.need), n.Free.at(req.scarce), id}
}

func (a *candidate) before(b *candidate) bool {
	switch {
	case !b.found:
		return true
	case a.extra != b.extra:
		return a.extra < b.extra
	case a.free != b.free:
		return a.free < b.free
	}
	return a.id < b.id
}

func (a *candidate) consider(b candidate) {
	if b.before(a) {
		*a = b
	}
}

// search searches all groups of nodes. If the flag besides is set, it skips nodes with kept room.
func (f *fleet) search(req *request, besides bool) (best candidate) {
	if !f.groups.made {
		f.makeGroups()
	}
	for _, k := range req.suits {
		if best.found && k.extra > best.extra {
			break
		}
		for _, g := range f.classes.all[k.class].groups {
			x := &f.groups.all[g]
			if !x.free.Covers(req.need) {
				continue
			}
			id, some := x.ids[0], true
			if besides {
				id, some = f.firstBesides(x)
			}
			if some {
				best.consider(candidate{true, k.extra, x.free.at(req.scarce), id})
			}
		}
	}
	return best
}

// firstBesides returns the node of a group that joined first, among its nodes without kept room.
func (f *fleet) firstBesides(x *group) (first NodeID, some bool) {
	if !f.isKept(x.ids[0]) {
		return x.ids[0], true
	}
	for _, id := range x.ids[1:] {
		if !f.isKept(id) && (!some || id < first) {
			first, some = id, true
		}
	}
	return first, some
}
