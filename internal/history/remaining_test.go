package history

import (
	"reflect"
	"testing"
	"time"
)

// TestRemaining sums up tasks of two users, one of them without a time limit.
func TestRemaining(t *testing.T) {
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	early, late := begin.Add(time.Hour), begin.Add(2*time.Hour)
	got := RemainingOf([]NodeTask{{User: "bob", Ends: &late}, {User: "ann"}, {User: "bob", Ends: &early}})
	if want := (Remaining{Users: []string{"ann", "bob"}, Last: late, Endless: 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := RemainingOf(nil); got.Users != nil || !got.Last.IsZero() || got.Endless != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}
