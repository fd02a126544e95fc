package queue_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// expanded are the numbers of an array, one by one, for ranges of a size that a test can count;
// ok is false for others, and for a text that is no array.
func expanded(text string) (numbers []int, ok bool) {
	list, _, _ := strings.Cut(text, "%")
	for item := range strings.SplitSeq(list, ",") {
		span, step, stepped := strings.Cut(strings.TrimSpace(item), ":")
		first, last, ranged := strings.Cut(span, "-")
		by := 1
		from, err := strconv.Atoi(first)
		to := from
		if ranged && err == nil {
			to, err = strconv.Atoi(last)
		}
		if stepped && err == nil {
			by, err = strconv.Atoi(step)
		}
		if err != nil || by < 1 || to < from || (to-from)/by > 10_000 || len(numbers) > 10_000 {
			return nil, false
		}
		for n := from; n <= to; n += by {
			numbers = append(numbers, n)
		}
	}
	return numbers, true
}

// FuzzParseArray: an array is refused with its reason, or has the numbers that are written, each
// once, and finds them again.
func FuzzParseArray(f *testing.F) {
	for _, text := range []string{"", "0", "7", "0-99%10", "1-9:4", "20-40:10,0-9", "5,3,1", "1-3,2",
		"0-2147483647:2147483647", "3-1", "1:2", "0-999999", "00-07", "+1", " 1 , 2 "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, most, err := queue.ParseArray(text)
		if err != nil {
			if !errors.Is(err, queue.ErrInvalid) || len(err.Error()) > 300 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if n.Len() < 1 || n.Len() > queue.MaxTasks || most < 0 || n.At(-1) != -1 || n.At(n.Len()) != -1 {
			t.Fatalf("%q: %d tasks, %d at once", text, n.Len(), most)
		}
		for i := 0; i < n.Len(); i += 1 + n.Len()/100 {
			if got := n.Index(n.At(i)); got != i {
				t.Fatalf("%q: task %d has the number %d, which is that of task %d", text, i, n.At(i), got)
			}
		}
		want, ok := expanded(text)
		if !ok || text == "" {
			return
		}
		seen := map[int]bool{}
		for i, number := range want {
			if seen[number] || n.At(i) != number {
				t.Fatalf("%q: task %d has the number %d, want %d, once", text, i, n.At(i), number)
			}
			seen[number] = true
		}
		if n.Len() != len(want) {
			t.Fatalf("%q: %d tasks, want %d", text, n.Len(), len(want))
		}
	})
}
