package cluster

// Key numbers a request for the amounts alone.
func (c *Cluster) Key(a Amounts) Key { return c.KeyOf(Ask{Amounts: a}) }

// KeyOf numbers a request. Every task occupies at least one unit: a request that does not
// name it gets one.
func (c *Cluster) KeyOf(a Ask) Key {
	return c.requests.number(c.resources.request(a.Amounts), a, c.fleet.classes.version)
}

// Request is what one task with the key asks for; it is not to be changed.
func (c *Cluster) Request(s Key) Vector { return c.requests.all[s].need }

// Must is what the labels of a node have to satisfy for tasks with the key.
func (c *Cluster) Must(s Key) Constraint { return c.requests.all[s].must }

// Window is the name of the window that tasks with the key ask for, "" for none.
func (c *Cluster) Window(s Key) string { return c.requests.all[s].window }

// Keys is the number of keys that have been given out.
func (c *Cluster) Keys() int { return len(c.requests.all) }

// Gang is how many tasks with the key start all at once, 1 if each starts for itself; spread
// is set if each needs a node of its own.
func (c *Cluster) Gang(s Key) (tasks int, spread bool) {
	req := &c.requests.all[s]
	return int(max(1, req.gang)), req.spread
}

// Width is how many units a task with the key occupies: what it is charged for.
func (c *Cluster) Width(s Key) float64 { return float64(c.requests.all[s].need[0]) }
