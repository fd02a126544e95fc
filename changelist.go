package fairlead

// changeList holds many changes without ever copying them to make room.
type changeList [][]Change

func (l *changeList) add(c Change) {
	const chunk = 4096
	if n := len(*l); n == 0 || len((*l)[n-1]) == chunk {
		*l = append(*l, make([]Change, 0, chunk))
	}
	last := &(*l)[len(*l)-1]
	*last = append(*last, c)
}
