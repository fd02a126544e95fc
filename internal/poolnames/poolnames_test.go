package poolnames

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/share"
)

func TestPlan(t *testing.T) {
	type h = Holding
	for name, c := range map[string]struct {
		pools    []string // besides the pools that hold jobs
		holdings []h
		renamed  []Change
		parted   []Parted
	}{
		"one user":           {nil, []h{{"a_b", "a b", 1, 1}}, []Change{{"a b", "a_b", "a=20b"}}, nil},
		"nobody's":           {nil, []h{{"a_b", "ann", 1, 1}, {"ann", "ann", 1, 0}, {"default", "", 1, 0}}, nil, nil},
		"with pools below":   {[]string{"a_b/x"}, []h{{"a_b", "a b", 1, 0}}, nil, nil},
		"one after another":  {nil, []h{{"a_b", "a b", 1, 0}, {"a=20b", "a=20b", 1, 0}}, []Change{{"a=20b", "a=20b", "a=3D20b"}, {"a b", "a_b", "a=20b"}}, nil},
		"the new one exists": {[]string{"a=20b"}, []h{{"a_b", "a b", 2, 1}}, nil, []Parted{{"a_b", []string{"a b"}, []Moved{{"a b", "a=20b", 2, 1}}}}},
		"several":            {nil, []h{{"a_b", "a/b", 1, 0}, {"a_b", "a b", 0, 3}, {"a_b", "ann", 1, 0}}, nil, []Parted{{"a_b", []string{"a b", "a/b", "ann"}, []Moved{{"a b", "a=20b", 0, 3}, {"a/b", "a=2Fb", 1, 0}}}}},
	} {
		pools := slices.Clone(c.pools)
		for _, x := range c.holdings {
			pools = append(pools, x.Pool)
		}
		if r := plan(pools, c.holdings); !reflect.DeepEqual(r.Renamed, c.renamed) || !reflect.DeepEqual(r.Parted, c.parted) {
			t.Errorf("%s: %+v, %+v", name, r.Renamed, r.Parted)
		}
	}
}

// kept is an in-memory store: jobs by pool and user.
type kept struct {
	pools map[string]bool
	jobs  map[Holding]bool
	t     *rapid.T
	set   map[string]string
}

func (k *kept) Pools() ([]string, error)             { return slices.Collect(maps.Keys(k.pools)), nil }
func (k *kept) Holdings() ([]Holding, error)         { return slices.Collect(maps.Keys(k.jobs)), nil }
func (k *kept) Alone() error                         { return nil }
func (k *kept) Settings() (map[string]string, error) { return maps.Clone(k.set), nil }
func (k *kept) Audit(Entry) error                    { return nil }
func (k *kept) Set(key, value string) error          { k.set[key] = value; return nil }

func (k *kept) Rename(from, to string) error {
	if k.pools[to] || !k.pools[from] {
		k.t.Fatalf("%s is renamed %s: of %v", from, to, k.pools)
	}
	delete(k.pools, from)
	k.pools[to] = true
	for _, h := range slices.Collect(maps.Keys(k.jobs)) {
		if h.Pool == from {
			delete(k.jobs, h)
			h.Pool = to
			k.jobs[h] = true
		}
	}
	return nil
}

func (k *kept) Move(user, from, to string) error {
	k.pools[to] = true
	was, is := Holding{}, Holding{Pool: to, User: user}
	for h := range k.jobs {
		switch {
		case h.User != user:
		case h.Pool == from:
			was = h
		case h.Pool == to:
			is = h
		}
	}
	delete(k.jobs, was)
	delete(k.jobs, is)
	is.Idle += was.Idle
	was.Idle = 0
	k.jobs[was], k.jobs[is] = true, true
	return nil
}

// TestMigrate checks with random pools that after the migration the waiting jobs of users with similar names are in
// different pools, and that no job is lost.
func TestMigrate(t *testing.T) {
	users := []string{"a b", "a/b", "a_b", "a=20b", "a=3D20b", "_", "default", "", "ann"}
	rapid.Check(t, func(t *rapid.T) {
		k := &kept{map[string]bool{}, map[Holding]bool{}, t, map[string]string{}}
		pools := append([]string{"lab"}, users[2:7]...)
		jobs := 0
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			user := rapid.SampledFrom(users).Draw(t, "user")
			path := share.UnderscoreName(user)
			if rapid.IntRange(0, 3).Draw(t, "by name") == 0 {
				path = rapid.SampledFrom(pools).Draw(t, "pool")
			}
			if rapid.Bool().Draw(t, "below") {
				path = "x/" + path
			}
			one := Holding{path, user, rapid.IntRange(0, 2).Draw(t, "idle"), rapid.IntRange(0, 2).Draw(t, "busy")}
			for h := range k.jobs {
				if h.Pool == one.Pool && h.User == user {
					one = Holding{}
				}
			}
			if one.Pool != "" {
				k.pools[path], k.jobs[one] = true, true
				jobs += one.Idle + one.Busy
			}
		}
		if err := Migrate(k, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		for h := range k.jobs {
			jobs -= h.Idle + h.Busy
			if !k.pools[h.Pool] {
				t.Fatalf("%+v is in no pool", h)
			}
			if to, old := share.Renamed(h.Pool, h.User); old && h.Idle > 0 {
				t.Fatalf("%d jobs of %q wait in %s, not in %s", h.Idle, h.User, h.Pool, to)
			}
		}
		if jobs != 0 {
			t.Fatalf("%d jobs are lost", jobs)
		}
	})
}

func TestSettings(t *testing.T) {
	r := &Report{
		Renamed: []Change{{"a=20b", "a=20b", "a=3D20b"}, {"a b", "a_b", "a=20b"}},
		Parted:  []Parted{{Pool: "c_d", Moved: []Moved{{User: "c d", To: "c=20d"}}}},
	}
	got, err := r.settings(map[string]string{
		"pause/a_b": `{"pool":"a_b","x":1}`, "pause/a=20b": `{"pool":"a=20b","x":2}`, "pause/c_d": `{"pool":"c_d"}`, "pause/c=20d": `{"pool":"c=20d","x":3}`,
		"boost/1": `{"pool":"a=20b"}`, "boost/2": `{"pool":"c_d"}`, "boost-last": "2", "reservation/r": `{"pools":["c_d","a_b"]}`, "reservation/s": `{"name":"s"}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{
		"pause/a_b": "", "pause/a=20b": `{"pool":"a=20b","x":1}`, "pause/a=3D20b": `{"pool":"a=3D20b","x":2}`,
		"boost/1": `{"pool":"a=3D20b"}`, "reservation/r": `{"pools":["c_d","a=20b","c=20d"]}`,
	}; !maps.Equal(got, want) {
		b, _ := json.MarshalIndent(got, "", " ")
		t.Errorf("changed: %s", b)
	}
	if _, err := r.settings(map[string]string{"boost/1": "x"}); err == nil {
		t.Error("what cannot be read was taken")
	}
}
