package main

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
)

// resize makes a small image as a JPEG file.
func resize(r Resize) ([]byte, error) {
	var out bytes.Buffer
	err := jpeg.Encode(&out, shrink(generate(r.Image, r.From), r.Width), &jpeg.Options{Quality: 80})
	return out.Bytes(), err
}

// generate makes a large image, which a service would read from somewhere: waves whose lengths and colors
// follow from its number.
func generate(number int64, width int) *image.RGBA {
	height := max(1, 3*width/4)
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	a, b := 1+float64(number%17), 1+float64(number%23)
	across := make([]float64, width)
	for x := range across {
		across[x] = math.Sin(a * float64(x) / float64(width) * 2 * math.Pi)
	}
	for y := range height {
		down := math.Cos(b * float64(y) / float64(height) * 2 * math.Pi)
		for x := range width {
			v := uint8(127 + 127*across[x]*down)
			m.SetRGBA(x, y, color.RGBA{v, 255 - v, uint8(number), 255})
		}
	}
	return m
}

// shrink makes each pixel of the small image the mean of the pixels of the large one that it covers.
func shrink(m *image.RGBA, width int) *image.RGBA {
	large := m.Bounds()
	width = min(width, large.Dx())
	height := max(1, large.Dy()*width/large.Dx())
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			from := image.Rect(x*large.Dx()/width, y*large.Dy()/height, (x+1)*large.Dx()/width, (y+1)*large.Dy()/height)
			out.SetRGBA(x, y, mean(m, from))
		}
	}
	return out
}

// mean returns the mean color of a part of an image.
func mean(m *image.RGBA, part image.Rectangle) color.RGBA {
	var r, g, b, n int
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			p := m.Pix[m.PixOffset(x, y):]
			r, g, b, n = r+int(p[0]), g+int(p[1]), b+int(p[2]), n+1
		}
	}
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255}
}

// Resize holds the arguments of a job: make a small image from a large one.
type Resize struct {
	Image int64 `json:"image"` // number of the large image
	From  int   `json:"from"`  // its width
	Width int   `json:"width"` // of the small one
}

// Kind names the kind of job.
func (Resize) Kind() string { return "resize" }
