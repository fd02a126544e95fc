package sched

import "github.com/fairlead/fairlead/cluster"

// gangRoom is the room that is made for a gang, task by task.
type gangRoom struct {
	spent map[int32]bool          // pieces that are stopped for it already
	hosts map[cluster.NodeID]bool // nodes that take no further task of it
	taken amounts                 // by the pieces
}

// chooseForGang returns the tasks to be stopped so that all tasks of a gang fit, nil if
// there are none: for each task a node with room or, if there is none, those of the node
// where it is best. The nodes of the world stay as they are.
func (p *planner) chooseForGang(starving int32, next ask, strict bool) (chosen []RunID) {
	nodes, shape := p.world.cluster, next.shape
	single := nodes.ShapeOf(cluster.Ask{Amounts: nodes.Amounts(nodes.Request(shape)), Must: nodes.Must(shape), Window: nodes.Window(shape)})
	n, spread := nodes.Gang(shape)
	type room struct {
		node  cluster.NodeID
		shape cluster.Shape
	}
	var given, taken []room
	p.gang = gangRoom{map[int32]bool{}, map[cluster.NodeID]bool{}, amounts{}}
	defer func() {
		for _, r := range taken {
			nodes.Give(r.node, r.shape)
		}
		for _, r := range given {
			nodes.Take(r.node, r.shape)
		}
		p.gang = gangRoom{}
	}()
	for range n {
		node, found := nodes.PlaceOn(single, func(id cluster.NodeID) bool {
			return !p.gang.hosts[id] && p.world.mayUse([]cluster.NodeID{id}, shape, next.limit)
		})
		if !found {
			x := p.best(starving, next, strict)
			if x == nil {
				return nil
			}
			for _, id := range x.runs() {
				r := p.world.run(id)
				nodes.Give(r.node, r.shape)
				given = append(given, room{r.node, r.shape})
				chosen = append(chosen, id)
			}
			for _, i := range x.numbers {
				p.gang.spent[i] = true
			}
			node, p.gang.taken = x.node, x.taken
		}
		nodes.Take(node, shape)
		taken = append(taken, room{node, shape})
		p.gang.hosts[node] = spread
	}
	return chosen
}
