package plot

import (
	"fmt"
	"slices"
	"strings"
)

// light and dark are the colors of series, and the gray of lines without a color. Each has at least 3:1
// contrast with the background. Any two of the first six stay distinguishable for people who do not see red
// or green. (A test computes both.)
var (
	light = []string{"#005fa8", "#c4500a", "#00866a", "#a03d8f", "#5f5000", "#3a97d8", "#4f4f55", "#7b2d26"}
	dark  = []string{"#4fa3f0", "#ff9350", "#2fc4a0", "#e58fd0", "#e3c94a", "#a8dcff", "#b9bcc4", "#cf8f86"}
)

// Colours is the number of colors; further series begin again with the first color, but have other dashes,
// markers and hatching.
const Colours = 8

// tone is a color with a name.
type tone struct{ name, light, dark string }

// tones are the colors of everything else.
var tones = []tone{
	{"back", "#ffffff", "#15181c"},
	{"ink", "#1b1e23", "#e8eaed"},
	{"dim", "#585e67", "#a4abb5"},
	{"grid", "#e1e4e8", "#2c3138"},
	{"axis", "#8a9099", "#6b727c"},
	{"rest", "#6f757d", "#969da7"},
}

// pageTones are the colors that only a page around pictures has.
var pageTones = []tone{
	{"page", "#f4f5f7", "#0f1114"},   // behind panels
	{"hover", "#eef3f9", "#1d242c"},  // a row under the pointer
	{"chosen", "#dfeaf6", "#20303f"}, // a selected row
	{"link", "#005fa8", "#6ab4f5"},
	{"alarm", "#b04200", "#ffa366"},
	{"ease", "#006b54", "#43cfae"},
}

// dashes distinguish lines that have the same color for some eyes.
var dashes = []string{"", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2", "9 3 2 3 2 3", "1 3"}

// CSS is the style sheet of all pictures. The colors follow the preference of the reader, or the attribute
// data-theme (light or dark) of the page. Every color is written twice, plain and as a variable, because some
// programs that convert SVG to pixels do not support variables.
var CSS = styleSheet()

// Theme defines the colors as variables of a whole page, so that the page around the pictures has the same
// colors.
var Theme = pageTheme()

// Print makes printed pages light, whatever the reader prefers: paper has no dark background.
var Print = "@media print{:root:root:root,:root:root:root .fl-plot{color-scheme:light;" +
	variables(slices.Concat(tones, pageTones), false) + "}}\n"

// variables defines the colors as variables, for light or for dark mode.
func variables(of []tone, night bool) string {
	var out strings.Builder
	series := light
	if night {
		series = dark
	}
	for _, t := range of {
		value := t.light
		if night {
			value = t.dark
		}
		fmt.Fprintf(&out, "--fl-%s:%s;", t.name, value)
	}
	for i, c := range series {
		fmt.Fprintf(&out, "--fl-c%d:%s;", i, c)
	}
	return out.String()
}

func pageTheme() string {
	all := slices.Concat(tones, pageTones)
	night := variables(all, true)
	return ":root{color-scheme:light;" + variables(all, false) + "}\n" +
		"@media (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;" + night + "}}\n" +
		":root[data-theme=dark]{color-scheme:dark;" + night + "}\n"
}

func styleSheet() string {
	var rules strings.Builder
	rule := func(property, name, plain string) string {
		return fmt.Sprintf("%s:%s;%s:var(--fl-%s);", property, plain, property, name)
	}
	for i := range light {
		name := fmt.Sprint("c", i)
		fmt.Fprintf(&rules, ".fl-%s{%s%s}\n", name, rule("fill", name, light[i]), rule("stroke", name, light[i]))
	}
	tone := map[string]string{}
	for _, t := range tones {
		tone[t.name] = t.light
	}
	fmt.Fprintf(&rules, ".fl-rest{%s%s}\n", rule("fill", "rest", tone["rest"]), rule("stroke", "rest", tone["rest"]))
	fmt.Fprintf(&rules, ".fl-back{%s}\n", rule("fill", "back", tone["back"]))
	fmt.Fprintf(&rules, ".fl-plot text{%sstroke:none;font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-variant-numeric:tabular-nums}\n", rule("fill", "ink", tone["ink"]))
	fmt.Fprintf(&rules, ".fl-plot .fl-title{font-size:15px;font-weight:600}\n.fl-plot .fl-key{font-size:13px}\n.fl-plot .fl-dim{%s}\n", rule("fill", "dim", tone["dim"]))
	fmt.Fprintf(&rules, ".fl-grid{%sfill:none}\n.fl-axis{%sfill:none}\n", rule("stroke", "grid", tone["grid"]),
		rule("stroke", "axis", tone["axis"]))
	fmt.Fprintf(&rules, ".fl-mark{%s}\n", rule("stroke", "back", tone["back"]))
	fmt.Fprintf(&rules, ".fl-plot .fl-on{%sstroke-width:2.5;stroke-opacity:.55;paint-order:stroke;stroke-linejoin:round}\n", rule("stroke", "back", tone["back"]))
	rules.WriteString(".fl-line{fill:none;stroke-width:2;stroke-linejoin:round}\n" +
		".fl-fill{stroke:none;fill-opacity:.16}\n.fl-gap{stroke:none;fill-opacity:.3}\n" +
		".fl-hatch{fill:none;stroke-width:1;stroke-opacity:.75}\n" +
		".fl-bar{fill-opacity:.8;stroke-width:1}\n.fl-box{fill-opacity:.32;stroke-width:1}\n" +
		".fl-free{fill-opacity:.05;stroke-dasharray:4 3}\n.fl-past{fill-opacity:.13;stroke-opacity:.55}\n.fl-level{fill-opacity:.55}\n")
	fmt.Fprintf(&rules, ".fl-now{%sstroke-width:1.5;stroke-dasharray:3 2}\n.fl-cell{%sfill:none}\n.fl-cell-used{%sstroke:none}\n.fl-cell-out{%sfill:none;stroke-width:1.5}\n",
		rule("stroke", "c1", light[1]), rule("stroke", "axis", tone["axis"]), rule("fill", "c0", light[0]), rule("stroke",
			"dim", tone["dim"]))
	fmt.Fprintf(&rules, ".fl-bullet-back{%sfill-opacity:.22;stroke:none}\n.fl-bullet-want{fill:none;%sstroke-width:1;stroke-dasharray:2 2}\n", rule("fill", "c0", light[0]), rule("stroke", "axis", tone["axis"]))
	fmt.Fprintf(&rules, ".fl-bullet-bar{%s}\n.fl-bullet-mark{%s}\n", rule("fill", "c0", light[0]),
		rule("fill", "ink", tone["ink"]))
	fmt.Fprintf(&rules, ".fl-bullet-point{%s%sstroke-width:1.5}\n", rule("fill", "c1", light[1]),
		rule("stroke", "back", tone["back"]))
	fmt.Fprintf(&rules, ".fl-spark-area{%sfill-opacity:.4;stroke:none}\n.fl-spark-line{fill:none;%sstroke-width:1.25}\n",
		rule("fill", "c0", light[0]), rule("stroke", "ink", tone["ink"]))
	night := variables(tones, true)
	return ".fl-plot{" + variables(tones, false) + "max-width:100%;height:auto;display:block}\n" +
		"@media (prefers-color-scheme:dark){:root:not([data-theme=light]) .fl-plot,svg.fl-plot:root{" + night + "}}\n" +
		":root[data-theme=dark] .fl-plot{" + night + "}\n" + rules.String()
}

// colour returns the class of the n-th series.
func colour(n int) string { return fmt.Sprint("fl-c", n%Colours) }

// dash returns the dash pattern of the n-th series; series that share a color have different patterns.
func dash(n int) string { return dashes[(n+n/Colours)%len(dashes)] }

// marker draws the marker of the n-th series.
func (c *canvas) marker(n int, x, y float64) {
	const r = 4.0
	class := "fl-mark " + colour(n)
	polygon := func(points ...float64) {
		var b strings.Builder
		for i := 0; i < len(points); i += 2 {
			fmt.Fprintf(&b, "%s,%s ", num(x+points[i]), num(y+points[i+1]))
		}
		c.el("polygon", "class", class, "points", strings.TrimSpace(b.String()))
	}
	switch (n + n/Colours) % 6 {
	case 0:
		c.el("circle", "class", class, "cx", x, "cy", y, "r", r)
	case 1:
		polygon(-r, -r, r, -r, r, r, -r, r)
	case 2:
		polygon(0, -r-1, r+1, r, -r-1, r)
	case 3:
		polygon(0, -r-1.5, r+1.5, 0, 0, r+1.5, -r-1.5, 0)
	case 4:
		polygon(0, r+1, r+1, -r, -r-1, -r)
	case 5:
		polygon(-r-1, -1.5, -1.5, -1.5, -1.5, -r-1, 1.5, -r-1, 1.5, -1.5, r+1, -1.5, r+1, 1.5, 1.5, 1.5, 1.5, r+1, -1.5, r+1,
			-1.5, 1.5, -r-1, 1.5)
	}
}

// hatch draws slanted lines within a rectangle, a few pixels apart: rising, or falling.
func (c *canvas) hatch(class string, x, y, w, h, gap float64, falling bool) {
	var d strings.Builder
	for s := gap / 2; s < w+h; s += gap {
		// The line u+v = s through the rectangle, u to the right and v up from its foot.
		u0, u1 := max(0, s-h), min(w, s)
		v0, v1 := s-u0, s-u1
		if falling {
			v0, v1 = h-v0, h-v1
		}
		fmt.Fprintf(&d, "M%s %sL%s %s", num(x+u0), num(y+v0), num(x+u1), num(y+v1))
	}
	if d.Len() > 0 {
		c.el("path", "class", "fl-hatch "+class, "d", d.String())
	}
}
