package cluster

import "math"

// Fits reports whether a task with the key fits on the node now, however briefly.
func (c *Cluster) Fits(id NodeID, s Key) bool { return c.fleet.fits(id, &c.requests.all[s]) }

// FitNow is the number of tasks with the key that fit on a node now.
func (c *Cluster) FitNow(id NodeID, s Key) int {
	if !c.Fits(id, s) {
		return 0
	}
	return c.requests.all[s].perNode(c.fleet.nodes[id].Free)
}

// Room reports whether a task with the key, or a whole gang, fits somewhere now.
func (c *Cluster) Room(s Key) bool { return c.fleet.room(&c.requests.all[s]) }

// Place returns the best node on which a task with the key fits now. It reports false if there is none.
func (c *Cluster) Place(s Key) (NodeID, bool) { return c.fleet.place(&c.requests.all[s]) }

// PlaceOn is Place restricted to nodes for which the function ok returns true.
func (c *Cluster) PlaceOn(s Key, ok func(NodeID) bool) (NodeID, bool) {
	return c.fleet.placeOn(&c.requests.all[s], ok)
}

// PlaceUntil is Place for a task planned to run from the instant now until the instant end.
func (c *Cluster) PlaceUntil(s Key, now, end int64) (NodeID, bool) {
	if !c.windows.Any() {
		return c.Place(s)
	}
	window := c.Window(s)
	return c.PlaceOn(s, func(id NodeID) bool { return c.fleet.nodes[id].OpenFor(window, now, end) })
}

// PlaceGang finds nodes for all tasks of a gang, and appends one node per task to the list. If the function room
// is nil, a node takes all tasks that fit now. Otherwise it takes at most the number that the function returns,
// and nodes that the function marks as last go last. It reports false if there is no room for the whole gang.
func (c *Cluster) PlaceGang(s Key, room func(NodeID) (tasks int, last bool), to []NodeID) ([]NodeID, bool) {
	req := &c.requests.all[s]
	if !c.fleet.room(req) {
		return to, false
	}
	n, spread := c.Gang(s)
	hosts := c.fleet.hosts(req, func(id NodeID) (tasks int, free int64, last bool) {
		if !c.fleet.fits(id, req) {
			return 0, 0, false
		}
		here := c.fleet.nodes[id].Free
		free, tasks = here.at(req.scarce), here.holds(req.need)
		if room != nil {
			var most int
			most, last = room(id)
			tasks = min(tasks, most)
		}
		return tasks, free, last
	})
	if total(hosts) < n {
		return to, false
	}
	return place(hosts, n, spread, to), true
}

// PlaceGangUntil is PlaceGang for tasks planned to run from the instant now until the instant end.
func (c *Cluster) PlaceGangUntil(s Key, now, end int64, to []NodeID) ([]NodeID, bool) {
	if !c.windows.Any() {
		return c.PlaceGang(s, nil, to)
	}
	window := c.Window(s)
	return c.PlaceGang(s, func(id NodeID) (int, bool) {
		if !c.fleet.nodes[id].OpenFor(window, now, end) {
			return 0, false
		}
		return math.MaxInt, false
	}, to)
}
