package main

import (
	"bytes"
	"image/jpeg"
	"testing"
	"time"
)

// TestResize checks that the image can be decoded.
func TestResize(t *testing.T) {
	data, err := resize(Resize{Image: 7, From: 90, Width: 30})
	if err != nil {
		t.Fatal(err)
	}
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if m.Bounds().Dx() != 30 || m.Bounds().Dy() != 22 {
		t.Errorf("it has %v", m.Bounds())
	}
	white := generate(0, 10)
	for i := range white.Pix {
		white.Pix[i] = 200
	}
	if got := shrink(white, 3).RGBAAt(1, 1); got.R != 200 || got.G != 200 || got.B != 200 {
		t.Errorf("the mean of 200 is %v", got)
	}
}

// TestMeasures checks the figures of outcomes that can be counted by hand.
func TestMeasures(t *testing.T) {
	at := func(s float64) time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
	}
	o := func(why string, submitted, started, ended float64) outcome {
		return outcome{why, at(submitted), at(started), at(ended), true}
	}
	s := &scene{measured: map[string][]outcome{
		large:    {o(flooding, 0, 8, 12), o(flooding, 0, 12, 20), o(flooding, 0, 20, 30)},
		small[0]: {o(pacing, 1, 3, 4), o(pacing, 2, 3, 5), o(rushing, 10, 11, 14), o(rushing, 10, 14, 15)},
		small[1]: {o(pacing, 2, 6, 7), o(rushing, 9, 10, 13), o(rushing, 10, 16, 17)},
	}}
	if w := s.waits(small...); len(w) != 3 || of(0.5, w) != 2*time.Second || of(1, w) != 4*time.Second {
		t.Errorf("waits %v", w)
	}
	// From 10, after the rush was submitted, to 14, when bolt's last one began: 2+2, 3 and 3 seconds.
	parts, lasted := s.parts()
	if lasted != 4*time.Second || parts[large] != 0.4 || parts[small[0]] != 0.3 || parts[small[1]] != 0.3 {
		t.Errorf("parts %v within %v", parts, lasted)
	}
	s.measured[small[0]][0].began = false
	if began, mark := s.began(small[0]); began != 1 || mark(0.4) != "" || mark(0.5) != ">" || mark(1) != ">" {
		t.Errorf("%d began, %q, %q, %q", began, mark(0.4), mark(0.5), mark(1))
	}
}
