package tidy

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// TestFloorsAreDrawn keeps the picture of the packages in docs/design equal to the imports. The packages of a
// row import only packages of lower rows; an import that another import implies is not drawn.
func TestFloorsAreDrawn(t *testing.T) {
	d := drawing{group: map[string]int{}, imports: map[string][]string{}}
	for i, f := range floors[:len(floors)-2] { // without the examples and the packages for tests
		for _, p := range f.packages {
			d.group[cmp.Or(p, "fairlead")] = i
		}
	}
	eachPackage(t, func(p checked) {
		if _, drawn := d.group[p.title()]; drawn {
			d.imports[p.title()] = d.ours(p.types.Imports())
		}
	})
	golden.Check(t, root+"/docs/design/floors.svg", d.svg())
}

// drawing holds the packages with the number of their group, and the imports among them.
type drawing struct {
	group   map[string]int
	imports map[string][]string
}

func (d drawing) ours(imports []*types.Package) (names []string) {
	for _, p := range imports {
		rest, ours := strings.CutPrefix(p.Path(), module)
		name := cmp.Or(strings.TrimPrefix(rest, "/"), "fairlead")
		if _, drawn := d.group[name]; ours && drawn {
			names = append(names, name)
		}
	}
	slices.Sort(names) // otherwise the picture would change when a declaration moves to another file
	return names
}

// level returns 0 for a package that imports none of ours, and otherwise one more than the highest import.
func (d drawing) level(name string) int {
	n := 0
	for _, to := range d.imports[name] {
		n = max(n, d.level(to)+1)
	}
	return n
}

// below returns all packages that a package imports, directly or not.
func (d drawing) below(name string) map[string]bool {
	all := map[string]bool{}
	for _, to := range d.imports[name] {
		all[to] = true
		maps.Copy(all, d.below(to))
	}
	return all
}

// direct returns the imports of a package that none of its other imports implies.
func (d drawing) direct(name string) (to []string) {
	implied := map[string]bool{}
	for _, p := range d.imports[name] {
		maps.Copy(implied, d.below(p))
	}
	for _, p := range d.imports[name] {
		if !implied[p] {
			to = append(to, p)
		}
	}
	return to
}

// rows puts the packages of one level side by side, near the packages that import them.
func (d drawing) rows() [][]string {
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(d.imports)) {
		for len(rows) <= d.level(name) {
			rows = append(rows, nil)
		}
		rows[d.level(name)] = append(rows[d.level(name)], name)
	}
	place := map[string]float64{}
	for i := len(rows) - 1; i >= 0; i-- {
		over, n := map[string]float64{}, map[string]float64{}
		for _, name := range slices.Concat(rows[i+1:]...) {
			for _, to := range d.direct(name) {
				over[to] += place[name]
				n[to]++
			}
		}
		slices.SortStableFunc(rows[i], func(a, b string) int {
			return cmp.Compare(over[a]/max(1, n[a]), over[b]/max(1, n[b]))
		})
		for k, name := range rows[i] {
			place[name] = (float64(k) + 0.5) / float64(len(rows[i]))
		}
	}
	return rows
}

// colours are the colors of the groups, in their order.
var colours = []string{"#fde2b3", "#f9c9c2", "#cfe6c5", "#c5dcf2", "#ddd0ee", "#f2d0e2", "#d9d9d9"}

const (
	pictureWidth = 1190
	rowHeight    = 84
	boxHeight    = 26
	rowGap       = 20 // between boxes
)

// svg draws the rows with the highest one on top.
func (d drawing) svg() string {
	rows := d.rows()
	x, y, width := map[string]int{}, map[string]int{}, map[string]int{}
	for i, row := range rows {
		total := 0
		for _, name := range row {
			width[name] = 7*len(short(name)) + 12
			total += width[name] + rowGap
		}
		at := (pictureWidth - total + rowGap) / 2
		for _, name := range row {
			x[name], y[name] = at, 20+(len(rows)-1-i)*rowHeight
			at += width[name] + rowGap
		}
	}
	var b strings.Builder
	height := len(rows)*rowHeight + 40
	b.WriteString("<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"monospace\" font-size=\"11\" ")
	fmt.Fprintf(&b, "viewBox=\"0 0 %d %d\">\n", pictureWidth, height)
	b.WriteString("<title>The packages and their imports, which lead down only</title>\n")
	b.WriteString("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n")
	for _, name := range slices.Sorted(maps.Keys(d.imports)) {
		for _, to := range d.direct(name) {
			fmt.Fprintf(&b, "<path d=\"M%d %dL%d %d\" stroke=\"#999\" stroke-width=\"0.7\"/>\n",
				x[name]+width[name]/2, y[name]+boxHeight, x[to]+width[to]/2, y[to])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.imports)) {
		d.box(&b, x[name], y[name], width[name], colours[d.group[name]%len(colours)], short(name))
	}
	at := 10
	for i, f := range floors[:len(floors)-2] {
		w := 7*len(f.group) + 12
		d.box(&b, at, height-36, w, colours[i%len(colours)], f.group)
		at += w + rowGap/4
	}
	return b.String() + "</svg>\n"
}

func (d drawing) box(b *strings.Builder, x, y, width int, colour, text string) {
	fmt.Fprintf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#555\"/>",
		x, y, width, boxHeight, colour)
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x+width/2, y+boxHeight-9, text)
}

func short(name string) string { return strings.TrimPrefix(name, "internal/") }
