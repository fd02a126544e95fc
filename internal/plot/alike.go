package plot

// Alike gives charts one scale, the scale of all their values, so that they can be compared side by side.
func Alike(charts ...Chart) []Chart {
	var y reach
	for _, f := range charts {
		for _, s := range f.Series {
			for _, p := range s.Points {
				y.add(p.Y, f.Y.Log)
			}
		}
	}
	for i := range charts {
		f := &charts[i]
		f.Y.From, f.Y.To = f.Y.ends(y, int(orElse(f.Height, 320)/46), true, true)
	}
	return charts
}
