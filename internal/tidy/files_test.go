package tidy

import (
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files of a package can be read one after another: each file uses names that the files before it
// declare. An arrow leads from a file to another file if it uses at least one of its names.
const (
	maxCircle   = 8  // files that all lead to one another
	maxCoreBack = 30 // arrows in sched that no order of its files avoids
)

// TestFilesRunInNoLargeCircle bounds circles, because files that lead to one another can only be understood
// together.
func TestFilesRunInNoLargeCircle(t *testing.T) {
	largest := map[string]int{}
	eachPackage(t, func(p checked) {
		largest[p.title()] = 1
		for _, c := range circles(arrows(p)) {
			largest[p.title()] = max(largest[p.title()], len(c))
		}
	})
	instead := "let the files that others build on not use those that build on them"
	limit{"circle", atMost(maxCircle), instead}.hold(t, largest)
}

// TestArrowsBetweenFilesRunDown orders the files of each package so that few arrows run back up, and counts
// these.
func TestArrowsBetweenFilesRunDown(t *testing.T) {
	back := map[string]int{}
	which := map[string][]string{}
	eachPackage(t, func(p checked) {
		g := arrows(p)
		for _, c := range circles(g) {
			which[p.title()] = append(which[p.title()], g.back(g.order(c))...)
		}
		back[p.title()] = len(which[p.title()])
	})
	most := func(name string) int {
		if name == "sched" {
			return maxCoreBack
		}
		return 0
	}
	instead := "move the name to the file that uses it, or hand over what the lower file needs"
	for _, name := range (limit{"arrows-back", most, instead}).hold(t, back) {
		t.Logf("%s: %s", name, strings.Join(which[name], ", "))
	}
}

// graph maps each file to the files whose names it uses.
type graph map[string]map[string]bool

// arrows finds all uses of names from other files of the same package.
func arrows(p checked) graph {
	g := graph{}
	file := func(at token.Pos) string { return filepath.Base(p.set.Position(at).Filename) }
	for _, f := range p.files {
		g[file(f.Pos())] = map[string]bool{}
	}
	for id, object := range p.info.Uses {
		if object.Pkg() != p.types || !object.Pos().IsValid() {
			continue
		}
		if from, to := file(id.Pos()), file(object.Pos()); from != to {
			g[from][to] = true
		}
	}
	return g
}

// circles finds the strongly connected components of more than one file (Tarjan, 1972).
func circles(g graph) [][]string {
	var found [][]string
	var stack []string
	number, low, on := map[string]int{}, map[string]int{}, map[string]bool{}
	var visit func(string)
	visit = func(v string) {
		number[v] = len(number) + 1
		low[v] = number[v]
		stack = append(stack, v)
		on[v] = true
		for _, w := range slices.Sorted(maps.Keys(g[v])) {
			if number[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], number[w])
			}
		}
		if low[v] < number[v] {
			return
		}
		at := slices.Index(stack, v)
		circle := slices.Clone(stack[at:])
		stack = stack[:at]
		for _, w := range circle {
			on[w] = false
		}
		if len(circle) > 1 {
			found = append(found, slices.Sorted(slices.Values(circle)))
		}
	}
	for _, v := range slices.Sorted(maps.Keys(g)) {
		if number[v] == 0 {
			visit(v)
		}
	}
	return found
}

// order puts the files of a circle in a row in which few arrows lead to a later file. It starts with the file
// that most others use and that uses the fewest, and so on (after Eades, Lin and Smyth, 1993), and then moves
// single files while that helps.
func (g graph) order(circle []string) []string {
	var row []string
	rest := slices.Clone(circle)
	for len(rest) > 0 {
		best := slices.MaxFunc(rest, func(a, b string) int {
			if d := g.use(rest, a) - g.use(rest, b); d != 0 {
				return d
			}
			return strings.Compare(b, a)
		})
		row = append(row, best)
		rest = slices.DeleteFunc(rest, func(f string) bool { return f == best })
	}
	for g.improve(row) {
	}
	return row
}

// use returns the number of files of a set that use a file, minus the number of files that it uses.
func (g graph) use(set []string, file string) (n int) {
	for _, other := range set {
		if g[other][file] {
			n++
		}
		if g[file][other] {
			n--
		}
	}
	return n
}

// improve moves each file to the place in the row that leaves the fewest arrows back, and reports whether
// there are fewer now.
func (g graph) improve(row []string) bool {
	better := false
	for _, file := range slices.Clone(row) {
		at := slices.Index(row, file)
		others := slices.Delete(slices.Clone(row), at, at+1)
		// Passing a file that it uses saves an arrow; passing a file that uses it costs one.
		now, least, place, here := 0, 0, 0, 0
		for i, other := range others {
			if g[file][other] {
				now--
			}
			if g[other][file] {
				now++
			}
			if i+1 == at {
				here = now
			}
			if now < least {
				least, place = now, i+1
			}
		}
		if least < here {
			copy(row, slices.Insert(others, place, file))
			better = true
		}
	}
	return better
}

// back lists the arrows that lead to a later file of the row.
func (g graph) back(row []string) (found []string) {
	for i, from := range row {
		for _, to := range row[i+1:] {
			if g[from][to] {
				found = append(found, from+" -> "+to)
			}
		}
	}
	return found
}
