package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/settings"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/store/memory"
)

// tunable returns a desk whose configuration can be changed.
func tunable(t *testing.T, text string) *desk {
	t.Helper()
	c, err := config.Parse("fairlead.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	k, err := settings.Open(t.Context(), memory.New("cpu"), c, "fairlead.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, keptBy(k))
	if err := d.loop.Configure(t.Context(), c.Shares); err != nil {
		t.Fatal(err)
	}
	return d
}

// keptBy gives a server a configuration that can be changed.
func keptBy(k *settings.Keeper) func(*Options) {
	return func(o *Options) {
		k.Bind(o.Loop, forecast.New(o.Loop))
		o.Config = k
	}
}

// TestSchedulingParameters: the routes that correspond to calls of a Scoot client.
func TestSchedulingParameters(t *testing.T) {
	d := tunable(t, "pools: {c0: {load: 30%}, c1: {load: 70%}}")
	const at = "/v1/scheduling/"
	load := api.ClassLoad{Percents: map[string]float64{"c0": 45, "c1": 55}}
	rules := api.RequestorMap{Rules: []api.RequestorRule{{Requestor: "land.*", Class: "c0"}}}
	for _, c := range []struct {
		name     string
		in, want any
		out      any
	}{
		{"class-load-percents", load, &load, new(api.ClassLoad)},
		{"requestor-map", rules, &rules, new(api.RequestorMap)},
		{"rebalance-minimum-duration", api.RebalanceDuration{Seconds: 240}, &api.RebalanceDuration{Seconds: 240}, new(api.RebalanceDuration)},
		{"rebalance-threshold", api.RebalanceThreshold{Percent: 20}, &api.RebalanceThreshold{Percent: 20}, new(api.RebalanceThreshold)},
	} {
		if status := d.send(root, http.MethodPut, at+c.name, c.in, nil); status != http.StatusOK {
			t.Errorf("set %s: status %d", c.name, status)
		}
		if status := d.send(ann, http.MethodGet, at+c.name, nil, c.out); status != http.StatusOK || !reflect.DeepEqual(c.out, c.want) {
			t.Errorf("%s is %+v, status %d; want %+v", c.name, c.out, status, c.want)
		}
	}
	for _, p := range views.Pools(t.Context(), d.loop) {
		if want := map[string]float64{"c0": 0.45, "c1": 0.55}[p.Path]; p.Path != "" && p.ShareHere != want {
			t.Errorf("%s has a share of %v, want %v", p.Path, p.ShareHere, want)
		}
	}
	wrong := api.ClassLoad{Percents: map[string]float64{"c0": -1, "c1": 1}}
	if status := d.send(root, http.MethodPut, at+"class-load-percents", wrong, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong load: status %d", status)
	}
	var h api.ConfigHistory
	if d.send(ann, http.MethodGet, "/v1/config/history", nil, &h); len(h.Entries) != 6 { // the start, two loads, the map, rebalance twice
		t.Errorf("record %+v", h)
	}
}

// TestOnlyAdministratorsChange: only administrators change shares; everybody may look.
func TestOnlyAdministratorsChange(t *testing.T) {
	d := tunable(t, "pools: {a: {weight: 1}}")
	set := api.SettingsRequest{Settings: []api.SettingValue{{Path: "half_life", Value: "1d"}}}
	for _, c := range []struct {
		method, path string
		in           any
	}{
		{http.MethodPost, "/v1/config/set", set},
		{http.MethodPost, "/v1/config/unset", api.UnsetRequest{Paths: []string{"half_life"}}},
		{http.MethodPut, "/v1/scheduling/class-load-percents", api.ClassLoad{Percents: map[string]float64{"a": 1}}},
		{http.MethodPost, "/v1/boosts", api.BoostRequest{Pool: "a", Factor: 2, ForSeconds: 60}},
		{http.MethodDelete, "/v1/boosts/1", nil},
		{http.MethodPost, "/v1/pauses", api.PauseRequest{Pool: "a", ForSeconds: 60}},
		{http.MethodDelete, "/v1/pauses?pool=a", nil},
	} {
		for _, who := range []access.Principal{ann, unknown} {
			if status := d.send(who, c.method, c.path, c.in, nil); status != refusal(who) {
				t.Errorf("%s %s by %q: status %d", c.method, c.path, who.Name, status)
			}
		}
		if status := d.send(root, c.method, c.path, c.in, nil); status != http.StatusOK {
			t.Errorf("%s %s by root: status %d", c.method, c.path, status)
		}
	}
	for _, path := range []string{"/v1/config", "/v1/config/history", "/v1/config/value?path=half_life", "/v1/boosts", "/v1/pauses", "/v1/scheduling/requestor-map"} {
		if status := d.send(ann, http.MethodGet, path, nil, nil); status != http.StatusOK {
			t.Errorf("%s by ann: status %d", path, status)
		}
	}
	if status := d.send(root, http.MethodGet, "/v1/config/value?path=polcy", nil, nil); status != http.StatusNotFound {
		t.Errorf("a path that is not there: status %d", status)
	}
}

// TestOnlyAdministratorsPlan: everybody may compare a file with the current configuration; only users who may apply a
// plan may make one.
func TestOnlyAdministratorsPlan(t *testing.T) {
	d := tunable(t, "pools: {a: {weight: 1}}")
	file := api.ConfigFile{Text: "pools: {a: {weight: 1}, b: {weight: 3}}"}
	for _, c := range []struct {
		path string
		in   any
		root int
	}{
		{"/v1/config/plan", file, http.StatusOK},
		{"/v1/config/apply", api.ApplyRequest{Plan: "12345678"}, http.StatusNotFound},
		{"/v1/config/rollback", api.RollbackRequest{}, http.StatusConflict},
	} {
		for _, who := range []access.Principal{ann, unknown} {
			if status := d.send(who, http.MethodPost, c.path, c.in, nil); status != refusal(who) {
				t.Errorf("%s by %q: status %d", c.path, who.Name, status)
			}
		}
		if status := d.send(root, http.MethodPost, c.path, c.in, nil); status != c.root {
			t.Errorf("%s by root: status %d, want %d", c.path, status, c.root)
		}
	}
	var diff api.ConfigDiff
	if status := d.send(ann, http.MethodPost, "/v1/config/diff", file, &diff); status != http.StatusOK || len(diff.Changes) != 1 || diff.Changes[0].Path != "pools.b" {
		t.Errorf("diff by ann: status %d, %+v", status, diff)
	}
	var p api.ConfigPlan
	d.send(root, http.MethodPost, "/v1/config/plan", file, &p)
	if len(p.Pools) != 3 || p.Pools[2].Path != "b" || p.Pools[2].ShareAfter != 0.75 || !p.Pools[2].New {
		t.Errorf("plan: %+v", p)
	}
	if status := d.send(root, http.MethodPost, "/v1/config/diff", api.ConfigFile{Text: "pools: ["}, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("a text that is no configuration: status %d", status)
	}
	if status := d.send(ann, http.MethodGet, "/v1/config/versions", nil, nil); status != http.StatusOK {
		t.Errorf("versions: status %d", status)
	}
	if status := d.send(ann, http.MethodGet, "/v1/config/versions/9", nil, nil); status != http.StatusNotFound {
		t.Errorf("a version that is not there: status %d", status)
	}
}

// TestWorkload: everybody may read the past workload; without nodes there is none.
func TestWorkload(t *testing.T) {
	d := tunable(t, "pools: {a: {weight: 1}}")
	if status := d.send(ann, http.MethodGet, "/v1/workload?seconds=3600", nil, nil); status != http.StatusConflict {
		t.Errorf("without a node: status %d", status)
	}
	if status := d.send(ann, http.MethodGet, "/v1/workload?seconds=0", nil, nil); status != http.StatusUnprocessableEntity {
		t.Errorf("of no time: status %d", status)
	}
}

// TestFixedConfiguration: a server inside a program that keeps its own configuration reports that.
func TestFixedConfiguration(t *testing.T) {
	d := newDesk(t)
	set := api.SettingsRequest{Settings: []api.SettingValue{{Path: "half_life", Value: "1d"}}}
	if status := d.send(root, http.MethodPost, "/v1/config/set", set, nil); status != http.StatusConflict {
		t.Errorf("status %d", status)
	}
}

// TestPasswordsAreShownToNobody: neither the routes about the configuration nor the pages show passwords.
func TestPasswordsAreShownToNobody(t *testing.T) {
	const text = "pools: {a: {weight: 2}}\nserver:\n  database: postgres://fair:c4n4ry@db/jobs\n"
	path := filepath.Join(t.TempDir(), "fairlead.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	k, err := settings.Open(t.Context(), memory.New("cpu"), c, path, "")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, keptBy(k))
	next := api.ConfigFile{Name: "next.yaml", Text: "pools: {a: {weight: 3}}\n"}
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/v1/config", nil}, {"GET", "/v1/config/value?path=server.database", nil}, {"GET", "/v1/config/value?path=server", nil},
		{"GET", "/v1/config/versions", nil}, {"GET", "/v1/config/versions/1", nil}, {"GET", "/v1/config/history", nil},
		{"POST", "/v1/config/diff", next}, {"POST", "/v1/config/plan", api.ConfigPlanRequest{ConfigFile: next}},
		{"GET", "/v1/status", nil}, {"GET", "/v1/doctor", nil}, {"GET", "/policy", nil}, {"GET", "/policy/edit", nil}, {"GET", "/policy/edit?version=1", nil}, {"GET", "/policy/rollback?to=1", nil},
	} {
		for _, a := range []access.Principal{root, ann} {
			body, err := json.Marshal(r.body)
			if err != nil {
				t.Fatal(err)
			}
			req := httptest.NewRequest(r.method, "http://fairlead"+r.path, strings.NewReader(string(body)))
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			d.handler.ServeHTTP(w, req.WithContext(context.WithValue(t.Context(), principalKey{}, a)))
			if strings.Contains(w.Body.String(), "c4n4ry") || a.Admin && w.Code != http.StatusOK {
				t.Errorf("%s %s as %s: %d %s", r.method, r.path, a.Name, w.Code, w.Body)
			}
		}
	}
}
