package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
)

func TestDuration(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0s", 0.25: "0.2s", 45: "45s", 59.99: "60s", 60: "1m", 150: "2m30s", 3599.7: "1h", 4500: "1h15m",
		86399: "1d", 280800: "3d6h", 1e9: "11,574d", -90: "-1m30s",
	} {
		if got := Duration(v); got != want {
			t.Errorf("Duration(%v) = %s, want %s", v, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.25: "0.25", 12.5: "12.5", 100: "100", 1234: "1,234", -1234567: "-1,234,567", 2.5e7: "25M", 3e10: "30G", 1e20: "1.00e+20", 0.00001: "0",
	} {
		if got := Count(v); got != want {
			t.Errorf("Count(%v) = %s, want %s", v, got, want)
		}
	}
}

// TestTicks checks that ticks are round values, in the units that a person would choose.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		n        int
		unit     Unit
		want     string
	}{
		{0, 7, 8, Number, "[0 1 2 3 4 5 6 7]"},
		{0, 93312, 5, Number, "[0 20,000 40,000 60,000 80,000]"},
		{0, 0.003, 3, Number, "[0 0.001 0.002 0.003]"},
		{0, 1, 4, Percent, "[0% 25% 50% 75% 100%]"},
		{0, 90, 6, Seconds, "[0 15s 30s 45s 1m 1m15s 1m30s]"},
		{0, 9 * hour, 9, Seconds, "[0 1h 2h 3h 4h 5h 6h 7h 8h 9h]"},
		{0, 2.5 * day, 6, Seconds, "[0 12h 1d 1d12h 2d 2d12h]"},
		{0, 340 * day, 7, Seconds, "[0 50d 100d 150d 200d 250d 300d]"},
		{0, 2000 * day, 5, Seconds, "[0 500d 1,000d 1,500d 2,000d]"},
	} {
		var got []string
		for _, v := range linearTicks(c.from, c.to, c.n, c.unit) {
			got = append(got, label(v, c.unit))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("ticks from %v to %v: %v, want %s", c.from, c.to, got, c.want)
		}
	}
}

// TestThinKeepsExtremes checks that few of a hundred thousand points are drawn, including the peaks.
func TestThinKeepsExtremes(t *testing.T) {
	var points []Point
	for i := range 100_000 {
		points = append(points, Point{float64(i), math.Sin(float64(i) / 500)})
	}
	points[33_333].Y, points[77_777].Y = 40, -40
	x := scale{from: 0, to: 100_000, a: 40, b: 880}
	kept := thin(points, x)
	if len(kept) > 4*842 {
		t.Errorf("%d points are kept", len(kept))
	}
	for _, i := range []int{0, 33_333, 77_777, 99_999} {
		if !slices.Contains(kept, points[i]) {
			t.Errorf("point %d is lost", i)
		}
	}
	if !slices.IsSortedFunc(kept, func(a, b Point) int { return int(a.X - b.X) }) {
		t.Error("points are out of order")
	}
}

// TestSizeIsBounded checks that pictures of 200,000 points, values or boxes stay small.
func TestSizeIsBounded(t *testing.T) {
	var points []Point
	var values []float64
	var boxes []Box
	for i := range 200_000 {
		points = append(points, Point{float64(i), float64(i * 7919 % 1000)})
		values = append(values, float64(i))
		boxes = append(boxes, Box{Row: i % 500, From: float64(i), To: float64(i + 400), Label: "123456", Key: "user",
			Tip: "a job"})
	}
	torn := Box{To: 1, Label: "1", Key: "user"}
	for i := range 200_000 {
		torn.Also = append(torn.Also, Rows{5 * (i + 1), 2})
	}
	for name, f := range map[string]Figure{
		"chart": Chart{Series: []Series{{Name: "a", Points: points, Step: true}, {Name: "b", Points: points}}},
		"gap":   Chart{Series: []Series{{Points: points, Step: true}, {Points: points[1:], Step: true}}, Gap: &Gap{}},
		"cdf":   CDF{Samples: []Sample{{Name: "a", Values: values}}},
		"gantt": Gantt{Count: 500, Boxes: boxes},
		"torn":  Gantt{Count: 1_000_001, Boxes: []Box{torn, torn, torn}},
	} {
		if n := len(Inline(f)); n > 600_000 {
			t.Errorf("%s has %d bytes", name, n)
		}
	}
}

func TestDistribution(t *testing.T) {
	got := distribution([]float64{5, 0, 0, 2, 5, math.NaN(), 100}, 1, 200)
	want := []Point{{1, 2. / 6}, {2, 3. / 6}, {5, 5. / 6}, {100, 1}, {200, 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestColours computes the contrast of every color with its background, and the distance of any two of the
// first six colors for people without the red or the green receptor.
func TestColours(t *testing.T) {
	for _, mode := range []struct {
		name, back string
		colours    []string
		tone       func(i int) string
	}{
		{"light", tones[0].light, light, func(i int) string { return tones[i].light }},
		{"dark", tones[0].dark, dark, func(i int) string { return tones[i].dark }},
	} {
		for _, c := range mode.colours {
			if got := contrast(c, mode.back); got < 3 {
				t.Errorf("%s: %s has contrast %.2f with the background, want 3", mode.name, c, got)
			}
		}
		for i, least := range map[int]float64{1: 12, 2: 4.5, 5: 3} {
			if got := contrast(mode.tone(i), mode.back); got < least {
				t.Errorf("%s: %s has contrast %.2f, want %v", mode.name, tones[i].name, got, least)
			}
		}
		for sight, m := range sights {
			for i, a := range mode.colours[:6] {
				for _, b := range mode.colours[:i] {
					if got := apart(m, a, b); got < 9 {
						t.Errorf("%s, %s: %s and %s are %.1f apart", mode.name, sight, a, b, got)
					}
				}
			}
		}
	}
}

// sights map linear red, green and blue to the perceived colors: with all three receptors, and without one of
// them (Machado, Oliveira and Fernandes 2009).
var sights = map[string][9]float64{
	"all":      {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"no red":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"no green": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
}

func linear(hex string) [3]float64 {
	var out [3]float64
	for i := range out {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			out[i] = c / 12.92
		} else {
			out[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast returns the contrast of WCAG 2: the ratio of luminances.
func contrast(a, b string) float64 {
	luminance := func(hex string) float64 {
		l := linear(hex)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] + 0.05
	}
	x, y := luminance(a), luminance(b)
	return max(x, y) / min(x, y)
}

// apart returns the distance of two colors in CIE L*a*b*, as a kind of sight sees them.
func apart(m [9]float64, a, b string) float64 {
	lab := func(hex string) [3]float64 {
		l := linear(hex)
		var rgb [3]float64
		for i := range rgb {
			rgb[i] = min(max(m[3*i]*l[0]+m[3*i+1]*l[1]+m[3*i+2]*l[2], 0), 1)
		}
		x := (0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.9505
		y := 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
		z := (0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.089
		f := func(t float64) float64 {
			if t > 0.008856 {
				return math.Cbrt(t)
			}
			return 7.787*t + 16./116
		}
		return [3]float64{116*f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))}
	}
	p, q := lab(a), lab(b)
	return math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
}
