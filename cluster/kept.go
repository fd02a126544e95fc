package cluster

// Kept is the set of nodes of a cluster with room kept for a waiting job. Only tasks that end in time may start there.
type Kept struct{ c *Cluster }

// KeptOf returns the nodes of a cluster with kept room.
func KeptOf(c *Cluster) Kept { return Kept{c} }

// Add records that room is kept on nodes.
func (r Kept) Add(ids ...NodeID) {
	k := &r.c.fleet.kept
	for _, id := range ids {
		for len(k.on) <= int(id) {
			k.on = append(k.on, false)
		}
		if !k.on[id] {
			k.on[id], k.ids = true, append(k.ids, id)
		}
	}
}

// Release records that no room is kept on any node.
func (r Kept) Release() {
	k := &r.c.fleet.kept
	for _, id := range k.ids {
		k.on[id] = false
		r.c.fleet.give(id) // a task that had room on no other node may fit here
	}
	k.ids = k.ids[:0]
}

// Place is [Cluster.Place] for tasks behind the job that the room is kept for. It prefers nodes with kept room for
// which the function ok returns true. If there is none, it takes any other node.
func (r Kept) Place(s Key, ok func(NodeID) bool) (NodeID, bool) {
	f, req := &r.c.fleet, &r.c.requests.all[s]
	if len(f.nodes) == 1 {
		return 0, f.fits(0, req) && (!f.isKept(0) || ok(0))
	}
	var best candidate
	for _, id := range f.kept.ids {
		if f.fits(id, req) && ok(id) {
			best.consider(f.candidate(id, req))
		}
	}
	if best.found {
		return best.id, true
	}
	return f.placeBesides(req)
}

// placeBesides does the same as place, but only on nodes without kept room.
func (f *fleet) placeBesides(req *request) (NodeID, bool) {
	if len(f.kept.ids) == 0 {
		return f.place(req)
	}
	f.refresh(req)
	if recent, known := f.given.since(req.failedBesides); known && len(recent) <= maxRecent {
		best := f.searchRecent(req, recent, &req.failedBesides, true) // a kept node is given once more on its release
		return best.id, best.found
	}
	best := f.search(req, true)
	if req.failedBesides = -1; !best.found {
		req.failedBesides = f.given.end()
	}
	return best.id, best.found
}
