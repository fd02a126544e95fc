package engine

import "github.com/fairlead/fairlead/queue"

// changeList holds many changes without ever copying them to make room.
type changeList [][]queue.Change

func (l *changeList) add(c queue.Change) {
	const chunk = 4096
	if n := len(*l); n == 0 || len((*l)[n-1]) == chunk {
		*l = append(*l, make([]queue.Change, 0, chunk))
	}
	last := &(*l)[len(*l)-1]
	*last = append(*last, c)
}
