package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
)

// TestPictures compares every sort of picture with a golden file that a person has reviewed.
func TestPictures(t *testing.T) {
	for name, f := range samples(900) {
		golden.Check(t, filepath.Join("testdata", name+".svg"), SVG(f))
	}
	for name, f := range samples(360) {
		golden.Check(t, filepath.Join("testdata", name+"-narrow.svg"), SVG(f))
	}
	golden.Check(t, filepath.Join("testdata", "plot.css"), CSS)
}

// TestSamePictureSameBytes checks that nothing depends on the order of a map or on the clock.
func TestSamePictureSameBytes(t *testing.T) {
	for name, f := range samples(700) {
		if a, b := Inline(f), Inline(f); a != b {
			t.Errorf("%s differs from itself", name)
		}
	}
}

// TestTextStaysWithin reads every picture: it must be well-formed, and no text may begin or end outside it.
func TestTextStaysWithin(t *testing.T) {
	for _, width := range []float64{300, 360, 600, 900, 1400} {
		for name, f := range samples(width) {
			for _, s := range texts(t, SVG(f)) {
				w := textWidth(s.text, s.size)
				from := s.x
				switch s.anchor {
				case "middle":
					from -= w / 2
				case "end":
					from -= w
				}
				if from < -1 || from+w > width+1 {
					t.Errorf("%s at %v: %q reaches from %.0f to %.0f", name, width, s.text, from, from+w)
				}
			}
		}
	}
}

type placed struct {
	text, anchor string
	x, size      float64
}

// texts lists the texts of a picture.
func texts(t *testing.T, svg string) []placed {
	t.Helper()
	var all []placed
	var now *placed
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local != "text" {
				continue
			}
			now = &placed{anchor: "start", size: small}
			for _, a := range e.Attr {
				switch {
				case a.Name.Local == "x":
					now.x, _ = strconv.ParseFloat(a.Value, 64)
				case a.Name.Local == "text-anchor":
					now.anchor = a.Value
				case a.Value == "fl-title":
					now.size = large * bold
				case a.Value == "fl-key":
					now.size = middle
				}
			}
		case xml.CharData:
			if now != nil {
				now.text += string(e)
			}
		case xml.EndElement:
			if e.Name.Local == "text" {
				all, now = append(all, *now), nil
			}
		}
	}
}

// TestHostileNames checks that any name stays text.
func TestHostileNames(t *testing.T) {
	evil := "\"><script>alert(1)</script><!-- ]]> & \x00\x1b[2J \u202egnp.exe \xff 'onload='x"
	box := Box{To: 1, Label: evil, Key: evil, Tip: evil}
	for name, f := range map[string]Figure{
		"chart": Chart{Title: evil, Note: evil, X: Axis{Label: evil}, Y: Axis{Label: evil}, Gap: &Gap{evil, evil},
			Series: []Series{{Name: evil, Step: true, Points: []Point{{0, 1}, {1, 2}}},
				{Name: evil, Step: true, Points: []Point{{0, 2}, {1, 1}}}}},
		"cdf":  CDF{Title: evil, Samples: []Sample{{Name: evil, Values: []float64{1}}}},
		"bars": Bars{Title: evil, Series: []string{evil, evil}, Groups: []Group{{evil, []float64{1, 2}}}},
		"gantt": Gantt{Title: evil, Rows: []string{evil}, Keys: []string{evil},
			Boxes: []Box{box, {To: 2, Key: "x", Kind: Reservation}}},
	} {
		svg := SVG(f)
		texts(t, svg) // checks that it is well-formed
		for _, bad := range []string{"<script", "<!--", "\x00", "\x1b", "\u202e", "\xff ", `"><`, "'onload"} {
			if strings.Contains(svg, bad) {
				t.Errorf("%s contains %q", name, bad)
			}
		}
	}
}

// TestOddNumbers checks that values that are not finite are omitted, and that a picture without data can be
// drawn.
func TestOddNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	odd := []Point{{nan, 1}, {0, nan}, {1, inf}, {-inf, 2}, {2, 3}, {2, 3}, {3, -1}}
	for i, f := range []Figure{
		Chart{}, CDF{}, Bars{}, Gantt{}, Sparkline{}, Sparkline{Area: odd, Line: odd},
		Chart{Series: []Series{{Points: odd}, {Points: odd, Step: true, Fill: true}}, Gap: &Gap{}},
		Chart{Series: []Series{{Points: []Point{{5, 0}}}}},
		Chart{X: Axis{Log: true, Unit: Seconds}, Y: Axis{Log: true},
			Series: []Series{{Points: odd}, {Points: []Point{{0, 0}, {0.001, 1e-9}}}}},
		Chart{Series: []Series{{Points: []Point{{0, 1e300}, {1e300, -1e300}}}}},
		CDF{X: Axis{Log: true, Unit: Seconds}, Samples: []Sample{{Values: []float64{0, 0, nan}}, {}}},
		Bars{Series: []string{"a", "b"}, Groups: []Group{{"g", []float64{nan}}, {"h", []float64{-1, inf, 3}}}},
		Gantt{Count: 3, Boxes: []Box{{From: nan, To: 1}, {From: 2, To: 1}, {Row: 2, Span: 2, To: 1}, {Row: -1, To: 1},
			{To: 0}}},
		Gantt{Count: 93312, Keys: []string{""}, Boxes: []Box{{Row: 93311, To: 1}}},
	} {
		if svg := SVG(f); !strings.HasSuffix(svg, "</svg>\n") || strings.Contains(svg, "NaN") ||
			strings.Contains(svg, "Inf") {
			t.Errorf("picture %d: %s", i, svg)
		}
	}
}

// TestAlike checks that charts for comparison have one scale, the scale of all their values.
func TestAlike(t *testing.T) {
	chart := func(most float64) Chart {
		return Chart{Height: 230, Series: []Series{{Name: "x", Points: []Point{{0, 1}, {1, most}, {2, math.NaN()}}}}}
	}
	for _, f := range Alike(chart(7), chart(93)) {
		if f.Y.From != 0 || f.Y.To != 100 {
			t.Errorf("from %v to %v, want 0 to 100", f.Y.From, f.Y.To)
		}
	}
	if f := Alike(Chart{Y: Axis{To: 1}}, chart(7))[0]; f.Y.To != 1 {
		t.Errorf("an end that is given became %v", f.Y.To)
	}
}
