package poolpath

import (
	"errors"
	"testing"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestFind checks which names find a pool, or create one if a rule does so.
func TestFind(t *testing.T) {
	shares := allocation.Default()
	rules, err := share.NewPlacementRules([]share.Rule{{Pool: "guests/{user}"}})
	if err != nil {
		t.Fatal(err)
	}
	shares.PlacementRules, shares.Closed = rules, true
	core, err := sched.New(shares.Sched, time.Unix(1, 0), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"guests/a=20b", "guests/a=2Fb", "guests/twice", "staff/twice", "x=20y/z", "x=20y=2Fz", "a=20b=20c",
	} {
		core.Pool(path)
	}
	for name, want := range map[string]string{
		"":             "",
		"guests/a=20b": "guests/a=20b", "guests/a b": "guests/a=20b", "a b": "guests/a=20b", "a=20b": "guests/a=20b",
		"guests/a/b": "guests/a=2Fb", `guests/"a/b"`: "guests/a=2Fb", "a/b": "guests/a=2Fb",
		"guests/c d": "guests/c=20d", "guests/cust:42": "guests/cust=3A42", "guests/default": "guests/default",
		"a b c": "a=20b=20c", `"x y"/z`: "x=20y/z", `"x y/z"`: "x=20y=2Fz",
	} {
		found, id, err := FindOrMake(core, &shares, name)
		if err != nil || found.Path(id) != want {
			t.Errorf("%q: %q, %v; want %q", name, found.Path(id), err, want)
		}
	}
	for name, want := range map[string]error{
		"chemistry/a b": queue.ErrNotFound, "c d": queue.ErrNotFound, "guests/": queue.ErrNotFound,
		"guests/c/d": queue.ErrNotFound,
		"twice":      queue.ErrInvalid, "x y/z": queue.ErrInvalid,
	} {
		if _, _, err := FindOrMake(core, &shares, name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}
