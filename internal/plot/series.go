package plot

import (
	"math"
	"slices"
	"strings"
)

// Point is a value at a place.
type Point struct{ X, Y float64 }

// Series is one line of a chart.
type Series struct {
	Name   string
	Points []Point // by X; points that are not finite are omitted, see Gaps

	// Step holds each value until the next point, as counts and shares over time do.
	Step bool

	// Gaps ends the line at a point whose Y is NaN: the values from there to the next point are unknown.
	Gaps bool

	// Fill tints the area below the line.
	Fill bool

	// Style selects the color, dashes and marker; 0 means the index in the chart. A name that appears in
	// several pictures should get the same style in all.
	Style int
}

// unknown marks the beginning of a gap.
func (p Point) unknown() bool { return math.IsNaN(p.Y) }

// style returns the number of the series' color, dashes and marker, from 0.
func (s Series) style(place int) int {
	if s.Style > 0 {
		return s.Style - 1
	}
	return place
}

// clean drops points that cannot be drawn, and points outside the range of the axis. Only the last point
// before the range stays, and moves to the edge, because its value extends into the range.
func clean(points []Point, from, to float64, gaps bool) []Point {
	var kept []Point
	for _, p := range points {
		if !finite(p.X) || p.X > to || !finite(p.Y) && !(gaps && p.unknown()) {
			continue
		}
		if p.X < from {
			p.X = from
			if n := len(kept); n > 0 && kept[n-1].X == from {
				kept[n-1] = p
				continue
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// thin bounds the number of points: of the points on one column of pixels, it keeps the first, the last,
// the lowest and the highest. If the line only rises or only falls in the column, the last point is
// enough.
func thin(points []Point, x scale) []Point {
	columns := int(x.b-x.a) + 1
	if len(points) <= columns {
		return points
	}
	var kept []Point
	for _, known := range stretches(points) {
		last := known[len(known)-1]
		if last.unknown() {
			known = known[:len(known)-1]
		}
		if kept = append(kept, thinStretch(known, x)...); last.unknown() {
			kept = append(kept, last)
		}
	}
	return kept
}

// thinStretch bounds the points of a line without gaps.
func thinStretch(points []Point, x scale) []Point {
	var kept []Point
	for i := 0; i < len(points); {
		column := int(x.at(points[i].X))
		low, high, j := i, i, i
		for ; j < len(points) && int(x.at(points[j].X)) == column; j++ {
			if points[j].Y < points[low].Y {
				low = j
			}
			if points[j].Y > points[high].Y {
				high = j
			}
		}
		if n := len(kept); n > 0 && (rises(kept[n-1], points[i:j], 1) || rises(kept[n-1], points[i:j], -1)) {
			kept = append(kept, points[j-1])
			i = j
			continue
		}
		chosen := []int{i, low, high, j - 1}
		slices.Sort(chosen)
		for _, k := range slices.Compact(chosen) {
			kept = append(kept, points[k])
		}
		i = j
	}
	return kept
}

// rises reports whether points only rise from a point before, or only fall with the sign -1.
func rises(from Point, points []Point, sign float64) bool {
	for _, p := range points {
		if sign*p.Y < sign*from.Y {
			return false
		}
		from = p
	}
	return true
}

// path returns the line through points, with corners if values hold until the next point.
func (p area) path(points []Point, step bool) string {
	var d strings.Builder
	known := false
	for _, q := range points {
		x := num(p.x.at(q.X))
		switch {
		case q.unknown():
			if known && step {
				d.WriteString("H" + x)
			}
			known = false
			continue
		case !known:
			d.WriteString("M" + x + " " + num(p.y.at(q.Y)))
		case step:
			d.WriteString("H" + x + "V" + num(p.y.at(q.Y)))
		default:
			d.WriteString("L" + x + " " + num(p.y.at(q.Y)))
		}
		known = true
	}
	return d.String()
}

// fill returns the area between a path and the foot of the chart.
func (p area) fill(points []Point, step bool) string {
	foot := num(p.y.at(max(0, p.y.from)))
	var d strings.Builder
	for _, s := range stretches(points) {
		if line := p.path(s, step); line != "" {
			d.WriteString(line + "V" + foot + "H" + num(p.x.at(s[0].X)) + "Z")
		}
	}
	return d.String()
}

// stretches cuts a line into lines without a gap; the point that begins a gap ends the stretch before it.
func stretches(points []Point) (all [][]Point) {
	from := 0
	for i, q := range points {
		if q.unknown() {
			if i > from {
				all = append(all, points[from:i+1])
			}
			from = i + 1
		}
	}
	if from < len(points) {
		all = append(all, points[from:])
	}
	return all
}

// value returns the value of a series of steps or straight lines at x, between its ends.
func value(points []Point, x float64, step bool) float64 {
	i, found := slices.BinarySearchFunc(points, x, func(p Point, x float64) int {
		switch {
		case p.X < x:
			return -1
		case p.X > x:
			return 1
		}
		return 0
	})
	switch {
	case found:
		for i+1 < len(points) && points[i+1].X == x {
			i++
		}
		return points[i].Y
	case i == 0:
		return points[0].Y
	case step || i == len(points):
		return points[i-1].Y
	}
	a, b := points[i-1], points[i]
	return a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X)
}
