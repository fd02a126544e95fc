package words

import (
	"testing"

	"github.com/fairlead/fairlead/internal/views"
)

// TestUsedNow: the resources that tasks use are compared with the requests of all of them. Without a request for memory
// there is nothing to compare, and the processor use of a task's first second is omitted.
func TestUsedNow(t *testing.T) {
	for _, c := range []struct {
		used    views.Used
		request map[string]int64
		want    string
	}{
		{views.Used{Tasks: 1, CPU: 15, Memory: 1 << 30, Elapsed: 10}, map[string]int64{"cpu": 2, "mem": 4 << 30},
			"1G of 4G memory, 75.0% of 2 cpu"},
		{views.Used{Tasks: 3, CPU: 15, Memory: 1 << 30, Elapsed: 30}, map[string]int64{"mem": 1 << 30},
			"1G of 3G memory, 50.0% of 3 cpu"},
		{views.Used{Tasks: 2, CPU: 15, Memory: 5 << 30, Elapsed: 30}, map[string]int64{"mem": 2 << 30},
			"5G of 4G memory (more than it asked for), 50.0% of 2 cpu"},
		{views.Used{Tasks: 1, CPU: 0.1, Memory: 10 << 20, Elapsed: 0.5}, nil, "10M memory"},
	} {
		if got := UsedNow(&c.used, c.request); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestPeakMemory: a task that used more than it asked for says so.
func TestPeakMemory(t *testing.T) {
	for _, c := range []struct {
		peak    int64
		request map[string]int64
		want    string
	}{
		{6 << 30, map[string]int64{"mem": 4 << 30}, "6G (asked for 4G)"},
		{4 << 30, map[string]int64{"mem": 4 << 30}, "4G"},
		{6 << 30, map[string]int64{"cpu": 1}, "6G"},
	} {
		if got := PeakMemory(c.peak, c.request); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
