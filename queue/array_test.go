package queue

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// everyOther lists numbers one by one: "1,3,5".
func everyOther(bytes int) string {
	var b strings.Builder
	for i := 1; b.Len() < bytes-8; i += 2 {
		if i > 1 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(i))
	}
	return b.String()
}

func TestArrayNumbers(t *testing.T) {
	for _, text := range []string{"", "7", "0-9", "20-40:10,0-9", "1,3,5", "5,3,1", "0-20:5,1-21:5", "9,0-8:2,1", everyOther(maxArray)} {
		n, _, err := ParseArray(text)
		if err != nil {
			t.Fatalf("%.40q: %v", text, err)
		}
		seen := map[int]bool{}
		for i := range n.Len() {
			at := n.At(i)
			if seen[at] || n.Index(at) != i {
				t.Fatalf("%.40q: At(%d) = %d, and Index of that is %d", text, i, at, n.Index(at))
			}
			seen[at] = true
		}
		if n.At(-1) != -1 || n.At(n.Len()) != -1 || n.Index(-1) != -1 || n.Index(1<<30) != -1 {
			t.Errorf("%.40q: what is outside has a place", text)
		}
		for number := range 50 {
			if (n.Index(number) >= 0) != seen[number] {
				t.Errorf("%.40q: Index(%d) = %d", text, number, n.Index(number))
			}
		}
	}
	for _, text := range []string{"1,1", "0-9,5", "0-20:5,10", "1-3,3-4", everyOther(maxArray + 100)} {
		if _, _, err := ParseArray(text); !errors.Is(err, ErrInvalid) || len(err.Error()) > 300 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// BenchmarkListedArray: numbers that are listed one by one are found by a search. A walk through the list would take 20
// times as long.
func BenchmarkListedArray(b *testing.B) {
	j := Job{Array: everyOther(maxArray)}
	for b.Loop() {
		n := j.Numbers()
		if i := n.Index(n.At(n.Len() - 1)); i != n.Len()-1 || i < 10_000 {
			b.Fatal(i)
		}
	}
}
