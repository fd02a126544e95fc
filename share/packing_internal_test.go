package share

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPacking: the largest sum is the largest one of all choices, while jobs come and go.
func TestPacking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := NewPacking(rapid.SampledFrom([]int64{1, 7, 63, 64, 65, 127, 128, 200, 300, 4097, 9000}).Draw(t, "room"))
		var widths []int64
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(widths) > 0 && rapid.IntRange(0, 3).Draw(t, "go") == 0 {
				p.Add(widths[0], -1)
				widths = widths[1:]
			} else {
				widths = append(widths, rapid.Int64Range(1, p.room).Draw(t, "width"))
				p.Add(widths[len(widths)-1], 1)
			}
			possible := make([]bool, p.room+1)
			possible[0] = true
			want := int64(0)
			for _, width := range widths {
				for sum := p.room; sum >= width; sum-- {
					possible[sum] = possible[sum] || possible[sum-width]
				}
			}
			for sum, ok := range possible {
				if ok {
					want = int64(sum)
				}
			}
			if got := p.Largest(); got != want {
				t.Fatalf("%v of %d: %d, want %d", widths, p.room, got, want)
			}
			p.taken = make([]int64, len(p.widths))
			if got := p.exact(p.room); p.sum > p.room && got != want {
				t.Fatalf("%v of %d: exactly %d, want %d", widths, p.room, got, want)
			}
		}
	})
}
