package cluster

// Key returns the key of a request that consists of amounts only.
func (c *Cluster) Key(a Amounts) Key { return c.KeyOf(Ask{Amounts: a}) }

// KeyOf returns the key of a request. Every task occupies at least one unit: a request that does not name the unit
// gets one.
func (c *Cluster) KeyOf(a Ask) Key {
	return c.requests.number(c.resources.request(a.Amounts), a, c.fleet.classes.version)
}

// Request is the request of one task with the key. Callers must not change it.
func (c *Cluster) Request(s Key) Vector { return c.requests.all[s].need }

// Must is the constraint on nodes for tasks with the key.
func (c *Cluster) Must(s Key) Constraint { return c.requests.all[s].must }

// Window is the name of the window that tasks with the key request, "" for none.
func (c *Cluster) Window(s Key) string { return c.requests.all[s].window }

// Keys is the number of keys that have been given out.
func (c *Cluster) Keys() int { return len(c.requests.all) }

// Gang is the number of tasks with the key that start at the same moment, 1 if each starts by itself. The result
// spread means that each needs a separate node.
func (c *Cluster) Gang(s Key) (tasks int, spread bool) {
	req := &c.requests.all[s]
	return int(max(1, req.gang)), req.spread
}

// Width is the number of units that a task with the key occupies. It is charged for them, unless the configuration
// sets charges.
func (c *Cluster) Width(s Key) float64 { return float64(c.requests.all[s].need[0]) }
