package units

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
	}{
		{"0", 0}, {"000", 0}, {"90s", 90 * time.Second}, {"1h30m", 90 * time.Minute}, {"7d", 7 * day},
		{"2d12h", 60 * time.Hour}, {"2-12:00:00", 60 * time.Hour}, {"1:30:00", 90 * time.Minute},
		{"0:90:00", 90 * time.Minute}, {"1.5h", 90 * time.Minute}, {"2w", 14 * day}, {"100ms", 100 * time.Millisecond},
		{"1s500us", time.Second + 500*time.Microsecond}, {"0.5ns", 1}, {"007s", 7 * time.Second}, {"36500d", longest},
		{"0s", 0}, {"9000000001ns", 9000000001},
	} {
		if got, err := ParseDuration(c.text); got != c.want || err != nil {
			t.Errorf("%q: got %v, %v; want %v", c.text, got, err, c.want)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "is missing"}, {"15", "needs a unit: 15s"}, {"-1h", "is negative"}, {"1x", "unknown unit x"},
		{"abc", "is not a duration"}, {"30m1h", "longer unit after a shorter"}, {"1h1h", "longer unit after a shorter"},
		{"1:30", "could be hours or minutes"}, {"1:2:3:4", "not of the form"}, {"1-2", "unknown unit -"}, {"1-2:3", "not of the form"},
		{"a:0:0", `"a" is not a whole number`}, {"36501d", "longer than a hundred years"}, {"1..5h", "1..5 is not a number"},
		{".5h", ".5 is not a number"}, {"5.h", "5. is not a number"}, {"1 h", "unknown unit h"},
		{strings.Repeat("9", 400) + "s", "longer than a hundred years"}, {"99999999999:0:0", "is not a whole number"},
		{"2147483647-0:0:0", "longer than a hundred years"}, {"1h-3m", "unknown unit h-"}, {":", "could be hours"}, {"::", "not a whole number"},
	} {
		if got, err := ParseDuration(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: got %v, %v; want an error with %q", c.text, got, err, c.want)
		}
	}
}

func TestParseTimeLimit(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
	}{
		{"0", 0}, {"UNLIMITED", 0}, {"infinite", 0}, {"90", 90 * time.Minute}, {"1:30", 90 * time.Second}, {"2:00:00", 2 * time.Hour},
		{"2-12", 60 * time.Hour}, {"2-12:30", 60*time.Hour + 30*time.Minute}, {"2-12:30:15", 60*time.Hour + 30*time.Minute + 15*time.Second},
		{"2h", 2 * time.Hour}, {"2d12h", 60 * time.Hour}, {"00:90:00", 90 * time.Minute}, {"1-48", 72 * time.Hour},
	} {
		if got, err := ParseTimeLimit(c.text); got != c.want || err != nil {
			t.Errorf("%q: got %v, %v; want %v", c.text, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "-5", "1:2:3:4", "1-", "-", ":", "1-2-3", "x", "1:x", "5x", "1-1:1:1:1", "99999999999"} {
		if got, err := ParseTimeLimit(bad); err == nil {
			t.Errorf("%q was accepted as %v", bad, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		back string
	}{
		{"0", 0, "0"}, {"8", 8, "8"}, {"1024", 1024, "1K"}, {"4G", 4 << 30, "4G"}, {"1.5T", 3 << 39, "1536G"}, {"512m", 512 << 20, "512M"},
		{"4GB", 4 << 30, "4G"}, {"4GiB", 4 << 30, "4G"}, {"2P", 2 << 50, "2P"}, {"7E", 7 << 60, "7E"}, {"1025", 1025, "1025"},
		{"9223372036854774784", math.MaxInt64 - 1023, "9007199254740991K"},
	} {
		got, err := ParseSize(c.text)
		if got != c.want || err != nil {
			t.Errorf("%q: got %d, %v; want %d", c.text, got, err, c.want)
		}
		if back := FormatSize(c.want); back != c.back {
			t.Errorf("%d: got %s, want %s", c.want, back, c.back)
		}
	}
	for _, bad := range []string{"", "G", "-1", "1.5", "4X", "4Gb!", "8E", "99999999999999999999", "1..2G", ".5G", "5.G", "4 G", "4Bi", "٤"} {
		if got, err := ParseSize(bad); err == nil {
			t.Errorf("%q was accepted as %d", bad, got)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0"}, {7 * day, "7d"}, {25 * time.Hour, "1d1h"}, {90 * time.Second, "1m30s"}, {1500 * time.Millisecond, "1s500ms"}, {-time.Hour, "-1h"},
	} {
		if got := FormatDuration(c.d); got != c.want {
			t.Errorf("%v: got %s, want %s", c.d, got, c.want)
		}
	}
	FormatDuration(math.MinInt64)
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"90s", "1h30m", "7d", "2-12:00:00", "1.5h", "15", "1:30", "0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (time.Duration, error){ParseDuration, ParseTimeLimit} {
			d, err := parse(text)
			if err != nil {
				continue
			}
			if d < 0 || d > longest {
				t.Fatalf("%q is %v", text, d)
			}
			if back, err := ParseDuration(FormatDuration(d)); back != d || err != nil {
				t.Fatalf("%q is %v, written %s, read %v, %v", text, d, FormatDuration(d), back, err)
			}
		}
	})
}

func FuzzSize(f *testing.F) {
	for _, s := range []string{"8", "4G", "1.5T", "512MiB", "-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseSize(text)
		if err != nil {
			return
		}
		if back, err := ParseSize(FormatSize(n)); n < 0 || back != n || err != nil {
			t.Fatalf("%q is %d, written %s, read %d, %v", text, n, FormatSize(n), back, err)
		}
	})
}
