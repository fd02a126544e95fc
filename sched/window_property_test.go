package sched_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
)

// modelWindows are windows as they are set; each question recomputes what follows from them.
type modelWindows []cluster.Window

// drawWindows draws some windows on nodes. They may overlap, and may have begun or ended.
func drawWindows(t *rapid.T, now time.Time, nodes []string) (all modelWindows) {
	for _, name := range []string{"p", "q", "r"}[:rapid.IntRange(0, 3).Draw(t, "windows")] {
		from := now.Add(time.Duration(rapid.IntRange(-50, 200).Draw(t, "from")) * time.Second)
		all = append(all, cluster.Window{
			Name:   name,
			Nodes:  rapid.SliceOfNDistinct(rapid.SampledFrom(nodes), 1, len(nodes), rapid.ID).Draw(t, "on"),
			From:   from.UnixNano(),
			To:     from.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "lasts")) * time.Second).UnixNano(),
			Closed: rapid.Bool().Draw(t, "closed"),
		})
	}
	return all
}

// lets reports whether a task that asks for a window, or for none, may start on a node now,
// if it keeps its limit. The limit 0 is a year.
func (all modelWindows) lets(node, window string, now time.Time, limit time.Duration) bool {
	if limit == 0 {
		limit = 365 * 24 * time.Hour
	}
	begin, end, inside := now.UnixNano(), now.Add(limit).UnixNano(), window == ""
	for _, w := range all {
		if !slices.Contains(w.Nodes, node) {
			continue
		}
		own := !w.Closed && w.Name == window
		if !own && w.From < end && w.To > begin {
			return false
		}
		inside = inside || own && w.From <= begin && w.To >= end
	}
	return inside
}

// askWindow draws the window that a job asks for.
func askWindow(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", "", "p", "q"}).Draw(t, "window")
}
