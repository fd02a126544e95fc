package plot

import "slices"

// CDF is the cumulative distribution of several samples: the fraction of each that is at most a value.
type CDF struct {
	Title   string
	Note    string
	Width   float64
	Height  float64
	X       Axis
	Samples []Sample
}

// Sample is a set of values, in any order.
type Sample struct {
	Name   string
	Values []float64
	Style  int // as in Series
}

// At implements [Figure].
func (f CDF) At(width float64) Figure {
	f.Width = width
	return f
}

func (f CDF) draw(c *canvas) (string, float64, float64) {
	chart := Chart{Title: f.Title, Note: f.Note, Width: f.Width, Height: f.Height, X: f.X, Y: Axis{Unit: Percent, To: 1}}
	var all reach
	for _, s := range f.Samples {
		for _, v := range s.Values {
			all.add(v, f.X.Log)
		}
	}
	from, to := f.X.ends(all, 1, !f.X.Log, false)
	chart.X.From, chart.X.To = from, to
	for _, s := range f.Samples {
		chart.Series = append(chart.Series, Series{Name: s.Name, Style: s.Style, Step: true,
			Points: distribution(s.Values, from, to)})
	}
	chart.Y.From = f.foot(chart.Series)
	return chart.draw(c)
}

// foot returns the beginning of the vertical axis: the largest of 0.75, 0.5 and 0 that no sample begins
// below. So differences are not pressed against the top.
func (f CDF) foot(series []Series) float64 {
	least := 1.0
	for _, s := range series {
		if len(s.Points) > 0 {
			least = min(least, s.Points[0].Y)
		}
	}
	switch {
	case least >= 0.75 && least < 1:
		return 0.75
	case least >= 0.5 && least < 1:
		return 0.5
	}
	return 0
}

// distribution returns the steps of a sample between two ends: first the fraction that is at most the first
// end, then the fraction after each different value.
func distribution(values []float64, from, to float64) []Point {
	var sorted []float64
	for _, v := range values {
		if finite(v) {
			sorted = append(sorted, v)
		}
	}
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	n := float64(len(sorted))
	points := []Point{{from, 0}}
	for i, v := range sorted {
		if i+1 < len(sorted) && sorted[i+1] == v {
			continue
		}
		part := float64(i+1) / n
		if v <= from {
			points[0].Y = part
			continue
		}
		points = append(points, Point{v, part})
	}
	if last := points[len(points)-1]; last.X < to {
		points = append(points, Point{to, last.Y})
	}
	return points
}
