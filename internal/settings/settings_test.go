package settings_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/settings"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// loop accepts every configuration, unless refuse is set.
type loop struct {
	shares allocation.Config
	refuse error
}

func (l *loop) Configure(_ context.Context, s allocation.Config) error {
	if l.refuse != nil {
		return l.refuse
	}
	l.shares = s
	return nil
}

func (l *loop) Forecast(_ context.Context, s allocation.Config) (*forecast.Forecast, error) {
	if l.refuse != nil {
		return nil, l.refuse
	}
	return &forecast.Forecast{Pools: []forecast.PoolForecast{{Starts: 3}}, Before: []string{"c1"},
			After: []string{"c0"}},
		nil
}

const classes = `pools:
  c0: {load: 30%}
  c1: {load: 70%}
placement:
  - {requestor: "land.*", pool: c0}
`

var ann = settings.Actor{Who: "ann", From: "socket"}

func open(t *testing.T, store settings.Store, text string) (*settings.Keeper, *loop) {
	t.Helper()
	k, err := settings.Open(t.Context(), store, parse(t, text), "fairlead.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{shares: k.Config().Shares}
	k.Bind(l, l)
	return k, l
}

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("fairlead.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func set(t *testing.T, k *settings.Keeper, all ...string) (*api.SettingsResponse, error) {
	t.Helper()
	var r api.SettingsRequest
	for _, text := range all {
		s, err := config.SplitSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Settings = append(r.Settings, api.SettingValue{Path: s.Path, Value: s.Value})
	}
	return k.Set(t.Context(), ann, r)
}

// TestParameters checks that the four parameters of Scoot's interface keep their values, even after a
// restart.
func TestParameters(t *testing.T) {
	store := memory.New("cpu")
	k, l := open(t, store, classes)
	apply := func(r api.SettingsRequest, err error) {
		t.Helper()
		if err == nil {
			_, err = k.Set(t.Context(), ann, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	load := api.ClassLoad{Percents: map[string]float64{"c0": 20, "c1": 70, "c2": 10}}
	rules := api.RequestorMap{Rules: []api.RequestorRule{{Requestor: "b|c", Class: "c2"}, {Requestor: "a.*", Class: "c1"}}}
	apply(settings.SetLoad(k.Parameters(), load))
	apply(settings.SetRequestors(k.Parameters(), rules))
	apply(settings.SetThreshold(k.Parameters(), api.RebalanceThreshold{Percent: 20}))
	apply(settings.SetDuration(k.Parameters(), api.RebalanceDuration{Seconds: 240}))
	for range 2 {
		p := k.Parameters()
		if !reflect.DeepEqual(p.Load, load) || !reflect.DeepEqual(p.Requestors, rules) || p.Threshold.Percent != 20 ||
			p.Duration.Seconds != 240 {
			t.Errorf("parameters %+v", p)
		}
		if got := l.shares.Sched.Root.Find("c2"); got == nil || got.Weight != 10 {
			t.Errorf("in force: %+v", l.shares.Sched.Root)
		}
		k, l = open(t, store, classes)
	}
	if _, err := settings.SetLoad(k.Parameters(), api.ClassLoad{Percents: map[string]float64{"c0": 100}}); !errors.Is(err,
		queue.ErrInvalid) || !strings.Contains(err.Error(), "c1 is missing") {
		t.Errorf("a class is left out: %v", err)
	}
	apply(settings.SetThreshold(k.Parameters(), api.RebalanceThreshold{}))
	if p := k.Parameters(); p.Threshold.Percent != 0 || p.Duration.Seconds != 240 {
		t.Errorf("switched off: %+v", p)
	}
	k, _ = open(t, memory.New("cpu"), "placement: [{user: ann, pool: a}]")
	if _, err := settings.SetRequestors(k.Parameters(), rules); err == nil || !strings.Contains(err.Error(), "rule 1") {
		t.Errorf("a rule of another kind would be lost: %v", err)
	}
	k, _ = open(t, memory.New("cpu"), "pools: {c0: {weight: 2}, c1: {weight: 3}}")
	apply(settings.SetLoad(k.Parameters(), api.ClassLoad{Percents: map[string]float64{"c0": 40, "c1": 60}}))
}

// TestAllOrNothing checks that if any step fails, the previous configuration stays current, in the store and in the
// record.
func TestAllOrNothing(t *testing.T) {
	store := memory.New("cpu")
	k, l := open(t, store, classes)
	hash := k.Config().Shares.Hash
	if _, err := set(t, k, "half_life=1d", "pools.c0.load=-3"); !errors.Is(err, queue.ErrInvalid) {
		t.Errorf("a wrong one: %v", err)
	}
	const unknown = "placement.9={pool: c0}"
	for _, wrong := range [][]string{{unknown, "half_life=1d"}, {"half_life=1d", unknown}} {
		if _, err := set(t, k, wrong...); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	l.refuse = errors.New("too many priorities")
	if _, err := set(t, k, "half_life=1d"); err == nil {
		t.Error("the loop refused, and it was taken")
	}
	l.refuse = nil
	full := &fullStore{Store: store}
	k2, l2 := open(t, full, classes)
	full.full = true
	if _, err := set(t, k2, "half_life=1d"); !errors.Is(err, queue.ErrFull) || l2.shares.Hash != hash {
		t.Errorf("not durable: %v, in force %s, before %s", err, l2.shares.Hash, hash)
	}
	if k.Config().Shares.Hash != hash || k2.Config().Shares.Hash != hash || len(k.Status().Settings) != 0 {
		t.Error("something changed")
	}
	again, _ := open(t, store, classes)
	if len(again.Status().Settings) != 0 {
		t.Errorf("kept: %+v", again.Status().Settings)
	}
	h, err := again.History(t.Context(), 0)
	if err != nil || len(h.Entries) != 1 || h.Entries[0].What != "start" {
		t.Errorf("record %+v, %v", h, err)
	}
}

type fullStore struct {
	*memory.Store
	full bool
}

func (s *fullStore) Audit(ctx context.Context, entries []queue.AuditEntry, settings map[string]string) error {
	if s.full {
		return queue.ErrFull
	}
	return s.Store.Audit(ctx, entries, settings)
}

// TestReloads checks that settings override a new file. A file that they do not fit changes nothing, and is
// applied as soon as they fit.
func TestReloads(t *testing.T) {
	store := memory.New("cpu")
	k, l := open(t, store, classes)
	if _, err := set(t, k, "pools.c0.load=40%", "pools.c1.load=60%"); err != nil {
		t.Fatal(err)
	}
	if err := k.Reload(t.Context(), parse(t, "half_life: 1d\n"+classes)); err != nil ||
		l.shares.Sched.Root.Find("c0").Weight != 40 || l.shares.Sched.HalfLife.Hours() != 24 {
		t.Errorf("a new file: %v, %+v", err, l.shares.Sched)
	}
	hash := l.shares.Hash
	if err := k.Reload(t.Context(), parse(t, "pools: {c0: {share: 10%}, c2: {share: 90%}}")); err == nil ||
		l.shares.Hash != hash || k.Status().Problem == "" {
		t.Errorf("one that they do not fit: %v", err)
	}
	if err := k.Broken(t.Context(), errors.New("line 3")); err != nil || k.Status().Problem != "line 3" {
		t.Error(err, k.Status().Problem)
	}
	if _, err := k.Unset(t.Context(), ann, api.UnsetRequest{All: true}); err != nil ||
		l.shares.Sched.Root.Find("c2") == nil || k.Status().Problem != "" {
		t.Errorf("given back: %v, %+v", err, k.Status())
	}
	h, err := k.History(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := len(h.Entries) - 1; i >= 0; i-- {
		e := h.Entries[i]
		text := e.Who + " " + e.What
		if e.Refused {
			text += " refused"
		}
		got = append(got, text)
	}
	want := []string{"fairlead start", "ann set", "ann set", "file reload", "file reload refused", "file reload refused",
		"ann unset", "ann unset"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("record %q\nwant   %q", got, want)
	}
	if e := h.Entries[len(h.Entries)-2]; e.Subject != "pools.c0.load" || e.Old != "30%" || e.New != "40%" ||
		e.From != "socket" {
		t.Errorf("entry %+v", e)
	}
}

// TestAside checks that the status shows settings that do not fit the file of a start, and that they can be
// unset one by one.
func TestAside(t *testing.T) {
	store := memory.New("cpu")
	k, _ := open(t, store, classes)
	if _, err := set(t, k, "pools.c0.load=40%", "pools.c1.load=60%", "half_life=2d"); err != nil {
		t.Fatal(err)
	}
	file := "pools: {c0: {share: 10%}, c1: {share: 90%}}"
	k, l := open(t, store, file)
	if st := k.Status(); !st.Aside || len(st.Settings) != 3 || st.Problem == "" ||
		l.shares.Sched.Root.Find("c0").Weight != 10 {
		t.Fatalf("status %+v", st)
	}
	for i, path := range []string{"pools.c0.load", "pools.c1.load"} {
		if _, err := k.Unset(t.Context(), ann, api.UnsetRequest{Paths: []string{path}}); err != nil {
			t.Fatal(err)
		}
		if st := k.Status(); st.Aside != (i == 0) {
			t.Errorf("after %s: %+v", path, st)
		}
	}
	if l.shares.Sched.HalfLife.Hours() != 48 {
		t.Errorf("the one that fits is not in force: %v", l.shares.Sched.HalfLife)
	}
}

func TestKeptSettingsCannotBeRead(t *testing.T) {
	store := memory.New("cpu")
	if err := store.Set(t.Context(), "config/settings", "{"); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.Open(t.Context(), store, config.Default(), "", ""); err == nil {
		t.Error("it was taken")
	}
}
