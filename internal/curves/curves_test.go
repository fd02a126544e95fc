package curves

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/plot"
)

// TestGaps checks that lines end where steps are missing, and where share and use are unknown.
func TestGaps(t *testing.T) {
	zero := time.Unix(1_700_000_000, 0)
	half := 0.5
	c := Curve{Name: `<b>"x"</b>`, Unit: "cpu", From: zero, To: zero.Add(time.Minute), Step: 10 * time.Second}
	for _, i := range []int{0, 1, 4} {
		p := history.HistoryPoint{At: zero.Add(time.Duration(i) * c.Step), Seconds: 10, FairNow: 2, Running: float64(i), Demand: 5}
		if i == 1 {
			p.Share, p.Used = &half, &half
		}
		c.Points = append(c.Points, p)
	}
	said := ""
	for _, p := range c.Entitled().Series[1].Points {
		said += label(p.X-unix(zero), p.Y)
	}
	if want := "0:0 10:1 20:? 40:4 50:? "; said != want {
		t.Errorf("running is %q, want %q", said, want)
	}
	said = ""
	for _, p := range c.share().Series[0].Points {
		said += label(p.X-unix(zero), p.Y)
	}
	if want := "0:? 10:0.5 20:? 40:? 50:? "; said != want {
		t.Errorf("the share is %q, want %q", said, want)
	}
	svg := plot.SVG(c.All())
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "<b>") {
		t.Error("the picture holds a NaN or markup of the name")
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func label(x, y float64) string {
	value := "?"
	if !math.IsNaN(y) {
		value = plot.Count(y)
	}
	return plot.Count(x) + ":" + value + " "
}
